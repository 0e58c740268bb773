"""A server for superprofiler --push: keeping_server.py DIRECTORY [CERTIFICATE KEY]

Serves https if there is a certificate, prints its port, keeps the body of each post as DIRECTORY/N.pb.gz and
prints a line for it.
"""
import http.server
import ssl
import sys

directory, files = sys.argv[1], sys.argv[2:]
kept = 0


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global kept
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(f"{directory}/{kept}.pb.gz", "wb") as file:
            file.write(body)
        kept += 1
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        print("post", flush=True)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that does not trust it hangs up."""


server = Server(("127.0.0.1", 0), Handler)
if files:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("port", server.server_address[1], flush=True)
server.serve_forever()
