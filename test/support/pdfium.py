"""Reads PDFs with PDFium. Input: {"file": path, "words": [...]} as JSON. Output: {"text": ..., "missing": [...]}, where
`missing` are the words that PDFium's own search does not find on any page."""

import json
import sys

import pypdfium2

asked = json.load(sys.stdin)
document = pypdfium2.PdfDocument(asked["file"])
pages = [page.get_textpage() for page in document]
json.dump(
    {
        "text": "\n".join(page.get_text_range() for page in pages),
        "missing": [word for word in asked["words"] if not any(page.search(word).get_next() for page in pages)],
    },
    sys.stdout,
)
