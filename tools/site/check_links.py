"""Every link of the built site leads somewhere, and no page asks for anything outside of it.

usage: check_links.py SITE

Looked at are the attributes that name a resource, anchors included, and url() in style sheets. A
link that a reader follows may lead elsewhere; what a browser fetches by itself may not.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOLLOWED = {"a": ["href"], "area": ["href"]}
FETCHED = {
    "script": ["src"],
    "link": ["href"],
    "img": ["src", "srcset"],
    "source": ["src", "srcset"],
    "iframe": ["src"],
    "video": ["src", "poster"],
    "audio": ["src"],
    "object": ["data"],
    "embed": ["src"],
    "use": ["href"],
    "form": ["action"],
}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors = set()
        self.links = []  # (line, target, is it fetched?)
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
        for table, is_fetched in ((FETCHED, True), (FOLLOWED, False)):
            for key in table.get(tag, ()):
                if values.get(key):
                    self.links.append((self.getpos()[0], values[key], is_fetched))


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}

    def fault_of(self, page, target, is_fetched):
        """What is wrong with a link, or nothing."""
        parts = urlsplit(target)
        if parts.scheme == "data":
            return ""
        if parts.scheme or parts.netloc:
            return "is fetched from outside" if is_fetched else ""
        if parts.path.startswith("/"):
            return "holds only where the site is at the top of a server"
        path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not path.is_relative_to(self.folder) or not path.is_file():
            return "does not exist"
        anchor = unquote(parts.fragment)
        if anchor and path in self.pages and anchor not in self.pages[path].anchors:
            return "has no such anchor"
        return ""

    def faults_of_pages(self):
        for path, page in self.pages.items():
            for line, target, is_fetched in page.links:
                fault = self.fault_of(path, target, is_fetched)
                if fault:
                    yield f"{path.relative_to(self.folder)}:{line}: {target} {fault}"

    def faults_of_styles(self):
        for path in sorted(self.folder.rglob("*.css")):
            for target in re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s]+)", path.read_text()):
                fault = self.fault_of(path, target, is_fetched=True)
                if fault:
                    yield f"{path.relative_to(self.folder)}: {target} {fault}"


def main():
    site = Site(Path(sys.argv[1]).resolve())
    wrong = [*site.faults_of_pages(), *site.faults_of_styles()]
    print("\n".join(wrong), end="\n" if wrong else "")
    links = sum(len(page.links) for page in site.pages.values())
    print(f"{len(site.pages)} pages, {links} links checked")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
