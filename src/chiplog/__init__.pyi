from chiplog.api import app as app
from chiplog.api import bench as bench
from chiplog.api import changes as changes
from chiplog.api import compare as compare
from chiplog.api import fit as fit
from chiplog.api import guidelines as guidelines
from chiplog.api import history as history
from chiplog.api import measure as measure
from chiplog.api import predict as predict
from chiplog.api import read as read
from chiplog.api import run as run
from chiplog.api import simulate as simulate
from chiplog.api import survey as survey
from chiplog.api import ucx as ucx

__version__: str
