"""Reads mail with Python's email package. Takes messages in base64, one a line, and prints one JSON object for each."""

import base64
import datetime
import email
import email.header
import email.policy
import email.utils
import hashlib
import json
import re
import sys


def text_of(content, charset):
    """Decodes bytes. Like browsers and mail clients (WHATWG Encoding), reads the defaults of senders as their supersets."""
    known = {"iso-8859-1": "windows-1252", "gb2312": "gbk", "ks_c_5601-1987": "cp949", "big5": "big5hkscs"}
    for name in (known.get(charset, charset), "utf-8", "windows-1252"):
        try:
            return content.decode("utf-8" if name in ("us-ascii", "") else name)
        except (LookupError, UnicodeDecodeError):
            pass
    return content.decode("windows-1252", "replace")


def headers_of(message, name):
    """Returns all headers of the name. Bytes that are not UTF-8 are in the character set of the text."""
    charsets = [part.get_content_charset() for part in message.walk() if not part.is_multipart()]
    charset = next(filter(None, charsets), "windows-1252")
    contents = [str(value).encode("utf-8", "surrogateescape") for key, value in message.raw_items() if key.lower() == name]
    return [text_of(content, "utf-8" if is_utf8(content) else charset) for content in contents]


def is_utf8(content):
    try:
        content.decode()
        return True
    except UnicodeDecodeError:
        return False


def words(value):
    """Decodes encoded words, also those inside of other words."""
    if "=?" in value:
        pieces = email.header.decode_header(value)
        value = "".join(piece if isinstance(piece, str) else text_of(piece, charset or "") for piece, charset in pieces)
    return " ".join(value.split())


def addresses(header, name):
    """Returns "Name<address>" for each address. A comment is a name only if there is no other, and groups are their members."""
    pairs = [(words(name), address) for name, address in email.utils.getaddresses([header])]
    # `getaddresses` appends comments to names. `headerregistry` follows RFC 5322, but loses names in comments.
    has_comments = "(" in header and "=?" not in header
    unfolded = " ".join(header.split())
    strict = email.policy.default.header_factory(name, unfolded).addresses if has_comments else ()
    if len(strict) == len(pairs):
        pairs = [(found.display_name or name, address) for found, (name, address) in zip(strict, pairs)]
    return [f"{'' if name == address else name}<{address}>" for name, address in pairs if name or address]


def date(message):
    header = message["date"]
    moment = header.datetime if header is not None else None
    if moment is None:
        return None
    zone = moment.tzinfo or datetime.timezone.utc
    return moment.replace(tzinfo=zone).astimezone(datetime.timezone.utc).replace(tzinfo=None).isoformat() + ".000Z"


def is_text(part, parent):
    """True if a part is displayed and not a file. So is a multipart in which no parts are found."""
    if part.get_content_maintype() == "multipart":
        return True
    if part.get_content_type() not in ("text/plain", "text/html"):
        return False
    if part.get_filename() or part.get_content_disposition() not in (None, "inline"):
        return False
    return parent is None or parent.get_content_type() != "multipart/related" or parent.get_payload()[0] is part


def content_of(part):
    return part.get_payload(decode=True) or b""


def decoded(part):
    content = content_of(part)
    charset = (part.get_content_charset() or "").lower()
    meta = re.search(rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([\w.:+-]+)", content[:1024], re.IGNORECASE)
    if charset in ("", "us-ascii") and part.get_content_type() == "text/html" and meta and not is_utf8(content):
        charset = meta[1].decode().lower()
    lines = text_of(content, charset).replace("\r\n", "\n")
    text = re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]", "", lines)
    return unflowed(text, part.get_param("delsp", "no")) if is_flowed(part) else text


def is_flowed(part):
    return part.get_content_type() == "text/plain" and str(part.get_param("format", "")).lower() == "flowed"


def unflowed(text, deletes_space):
    """Joins the lines of paragraphs (RFC 3676, section 4.4)."""
    lines, before = [], None
    for line in text.split("\n"):
        quotes = len(line) - len(line.lstrip(">"))
        content = line[quotes:]
        content = content[1:] if content.startswith(" ") else content
        is_soft = content.endswith(" ") and content != "-- "
        if is_soft and deletes_space.lower() == "yes":
            content = content[:-1]
        if before == quotes and content != "-- ":
            lines[-1] += content
        else:
            lines.append(">" * quotes + (" " if quotes and content else "") + content)
        before = quotes if is_soft else None
    return "\n".join(lines)


def select(parts, parent, in_alternative, html, text):
    """Selects the parts of the text and the HTML (RFC 8621, section 4.1.4)."""
    kind = parent.get_content_subtype() if parent is not None else "mixed"
    before = (len(text) if text is not None else -1, len(html) if html is not None else -1)
    for part in parts:
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            select(part.get_payload(), part, in_alternative or part.get_content_subtype() == "alternative", html, text)
        elif not is_text(part, parent):
            continue
        elif kind == "alternative":
            chosen = html if part.get_content_type() == "text/html" else text
            if chosen is not None:
                chosen.append(part)
        else:
            if in_alternative and part.get_content_type() == "text/html":
                text = None
            elif in_alternative:
                html = None
            if text is not None:
                text.append(part)
            if html is not None:
                html.append(part)
    if kind == "alternative" and text is not None and html is not None:
        if len(text) == before[0] and len(html) > before[1]:
            text.extend(html[before[1]:])
        if len(html) == before[1] and len(text) > before[0]:
            html.extend(text[before[0]:])


def has_html(parts):
    return any(part.get_content_type() == "text/html" for part in parts)


def files(part, parent=None):
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        return [file for child in part.get_payload() for file in files(child, part)]
    if is_text(part, parent):
        return []
    nested = part.get_content_maintype() == "message"
    content = None if nested else content_of(part)
    return [{
        "name": part.get_filename() or None,
        "type": part.get_content_type(),
        "size": None if nested else len(content),
        "sha256": None if nested else hashlib.sha256(content).hexdigest(),
    }]


def read(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    text, html = [], []
    select([message], None, False, html, text)
    return {
        "from": [found for header in headers_of(message, "from")[:1] for found in addresses(header, "from")],
        "to": [found for header in headers_of(message, "to") for found in addresses(header, "to")],
        "cc": [found for header in headers_of(message, "cc") for found in addresses(header, "cc")],
        "subject": words(next(iter(headers_of(message, "subject")), "")),
        "date": date(message),
        "text": "\n".join(filter(None, map(decoded, text))) if text and not has_html(text) else None,
        "html": "<br/>\n".join(filter(None, (decoded(part) for part in html if part.get_content_type() == "text/html"))),
        "files": files(message),
    }


for line in sys.stdin:
    print(json.dumps(read(base64.b64decode(line))), flush=True)
