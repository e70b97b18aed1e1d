"""Tells the person a job names that a gate waits, by mail."""

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from nkiport.contracts.jobs import Gate, Job
from nkiport.jobs.ports import Mailer


class MailNotices:
    """One mail for each gate; a job without an address gets none."""

    def __init__(self, mailer: Mailer) -> None:
        self._mailer = mailer
        self._pages = Environment(
            loader=PackageLoader("nkiport.adapters", "templates"),
            autoescape=select_autoescape(["html.j2"]),
            undefined=StrictUndefined,
        )

    def tell(self, job: Job, gate: Gate, link: str) -> None:
        """Send the question with its link, whose page asks again before anything is decided."""
        if job.request.notify is None:
            return
        said = {"job": job, "gate": gate, "link": link}
        self._mailer.send(
            job.request.notify,
            f"nkiport: the {gate.gate} gate of {job.job_id} waits for you",
            self._pages.get_template("gate_mail.txt.j2").render(said),
            self._pages.get_template("gate_mail.html.j2").render(said),
        )
