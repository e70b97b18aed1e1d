"""What is delivered: a patch with the kernel, a wrapper, a test and the evidence."""

from nkiport.delivery.envelope import evidence_in
from nkiport.delivery.files import Delivered, files_of
from nkiport.delivery.patch import patch_of
from nkiport.delivery.paths import Tree, check_path
from nkiport.delivery.words import pull_request_body, report_of, title_of

__all__ = [
    "Delivered",
    "Tree",
    "check_path",
    "evidence_in",
    "files_of",
    "patch_of",
    "pull_request_body",
    "report_of",
    "title_of",
]
