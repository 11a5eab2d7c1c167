# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The probe runs this program inside a host. It measures one thing and prints it as JSON. It imports little, to start fast.

    cpu BEGIN SECONDS         processor seconds per second, and loops per processor second, both for several intervals
    disk BEGIN SECONDS FOLDER bytes per second written and read, with direct I/O if the disk supports it
    receive ADDRESS PORT      the other end of `send`; prints "ready" first
    send ADDRESS PORT SECONDS bytes per second to the other end, and seconds one way for a byte

BEGIN is a time of the monotonic clock, so that workers of several hosts begin together.
"""
import json
import mmap
import os
import socket
import sys
import time

LOOPS = 10_000  # between two looks at the clock; well below a millisecond
PIECES = 10
BLOCK = 1 << 20
MAX_BYTES = 1 << 30
PINGS = 100
PATIENCE_SECONDS = 20


def wait_for(begin):
    time.sleep(max(0.0, float(begin) - time.monotonic()))


def cpu(begin, seconds):
    wait_for(begin)
    parts, rates = [], []
    for _ in range(PIECES):
        loops, first, worked = 0, time.monotonic(), time.process_time()
        while time.monotonic() - first < float(seconds) / PIECES:
            for _ in range(LOOPS):
                pass
            loops += LOOPS
        parts.append((time.process_time() - worked) / (time.monotonic() - first))
        rates.append(loops / (time.process_time() - worked))
    return {"parts": parts, "rates": rates}


def transfer(move, seconds):
    """Calls move() until the time is over or it moves nothing. Returns the bytes and the time of the start."""
    begin = time.monotonic()
    moved = 0
    while time.monotonic() - begin < seconds and moved < MAX_BYTES:
        step = move()
        if not step:
            break
        moved += step
    return moved, begin


def disk(begin, seconds, folder):
    wait_for(begin)
    path = os.path.join(folder, "probe")
    block = mmap.mmap(-1, BLOCK)  # aligned, as direct I/O requires
    block.write(os.urandom(BLOCK))
    try:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
        except OSError:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # a tmpfs
        moved, started = transfer(lambda: os.write(file, block), float(seconds))
        os.fdatasync(file)
        written = moved / (time.monotonic() - started)
        os.lseek(file, 0, os.SEEK_SET)
        moved, started = transfer(lambda: os.readv(file, [block]), float(seconds))
        return {"write": written, "read": moved / (time.monotonic() - started)}
    finally:
        os.unlink(path)


def receive(address, port):
    with socket.create_server((address, int(port))) as server:
        server.settimeout(PATIENCE_SECONDS)
        print("ready", flush=True)
        peer, _ = server.accept()
    with peer:
        peer.settimeout(PATIENCE_SECONDS)
        for _ in range(PINGS):
            peer.sendall(peer.recv(1))
        begin = time.monotonic()
        moved = 0
        buffer = bytearray(BLOCK)
        while step := peer.recv_into(buffer):
            moved += step
        return {"rate": moved / (time.monotonic() - begin)}


def send(address, port, seconds):
    with socket.create_connection((address, int(port)), timeout=PATIENCE_SECONDS) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips = []
        for _ in range(PINGS):
            begin = time.monotonic()
            peer.sendall(b"p")
            peer.recv(1)
            trips.append(time.monotonic() - begin)
        block = bytes(BLOCK)
        transfer(lambda: peer.send(block), float(seconds))
    return {"latency": sorted(trips)[PINGS // 2] / 2}


if __name__ == "__main__":
    WORKERS = {"cpu": cpu, "disk": disk, "receive": receive, "send": send}
    print(json.dumps(WORKERS[sys.argv[1]](*sys.argv[2:])), flush=True)
