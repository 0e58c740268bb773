"""A debuginfod for tests: debuginfod_server.py DIR MODE

Serves /buildid/ID/debuginfo from DIR/ID. Prints "port N", and "ID" of each file that was served.
MODE "slow": a file takes three seconds. "hang": no request is ever answered.
"""
import http.server
import os
import sys
import time

folder, mode = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if mode == "hang":
            time.sleep(600)
        _, kind, build_id, what = (self.path.split("/") + [""] * 4)[:4]
        path = os.path.join(folder, build_id)
        if kind != "buildid" or what != "debuginfo" or not os.path.isfile(path):
            self.send_error(404)
            return
        data = open(path, "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        pieces = 10
        size = len(data) // pieces + 1
        for at in range(0, len(data), size):
            self.wfile.write(data[at : at + size])
            self.wfile.flush()
            time.sleep(0.3 if mode == "slow" else 0)
        print(build_id, flush=True)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("port", server.server_address[1], flush=True)
server.serve_forever()
