"""A survey as a page: who is slow, the nodes beside each other, the matrix of pairs, classes of links, months."""

from __future__ import annotations

from chiplog.machine_survey.page.page import SurveyPage, survey_page

__all__ = ["SurveyPage", "survey_page"]
