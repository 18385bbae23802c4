"""One small module a format of tuning files, with what makes a barrier fail where the file is read."""
