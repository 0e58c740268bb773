"""A server for superprofiler --push: push_server.py [REFUSALS]

Prints its port, answers 503 to the first REFUSALS posts, and prints what each later post has as a
line of JSON: the query, headers and, of the pprof in it, the types, the sum of the first value and
the names of the functions.
"""
import gzip
import http.server
import json
import sys
import urllib.parse

refusals = int(sys.argv[1]) if len(sys.argv) > 1 else 0


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a protobuf message: integers, and bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(key)
        yield key >> 3, value


def read(profile):
    strings, functions, types, samples = [], [], [], 0
    for number, value in fields(profile):
        if number == 6:
            strings.append(value.decode())
        elif number == 5:
            functions.append(dict(fields(value)).get(2, 0))
        elif number == 1:
            types.append(dict(fields(value)).get(1, 0))
        elif number == 2:
            values = next(field for kind, field in fields(value) if kind == 2)
            samples += varint(values, 0)[0] if isinstance(values, bytes) else values
    return {
        "samples": samples,
        "types": [strings[name] for name in types],
        "functions": sorted({strings[name] for name in functions}),
    }


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global refusals
        body = self.rfile.read(int(self.headers["Content-Length"]))
        refusals -= 1
        self.send_response(503 if refusals >= 0 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if refusals < 0:
            url = urllib.parse.urlparse(self.path)
            query = {key: values[-1] for key, values in urllib.parse.parse_qs(url.query).items()}
            token = self.headers.get("Authorization", "")
            post = {"path": url.path, "query": query, "token": token, **read(gzip.decompress(body))}
            print(json.dumps(post), flush=True)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
