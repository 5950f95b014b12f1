# netspurt in a container: all commands; those that need the kernel (emulate, shell, host) need privileges besides.
#
#   docker build --tag netspurt .
#   docker run --rm netspurt run --rate 10mbit --delay 40ms --bytes 20MB
#   docker run --rm --volume "$PWD:/work" netspurt why trace.pcapng
#   docker run --rm --network host netspurt lab --no-browser
#   docker run --rm --cap-add NET_ADMIN --cap-add SYS_ADMIN --device /dev/net/tun netspurt emulate …

FROM rust:1-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv python3-pip \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY requirements-build.txt ./
RUN python3 -m venv /build && /build/bin/pip install --no-cache-dir --require-hashes --requirement requirements-build.txt
COPY . .
RUN /build/bin/maturin build --release --strip --locked --out /wheels

FROM python:3.11-slim-bookworm
COPY requirements.txt /tmp/requirements.txt
RUN pip install --no-cache-dir --require-hashes --requirement /tmp/requirements.txt
COPY --from=build /wheels /tmp/wheels
RUN pip install --no-cache-dir --no-deps /tmp/wheels/*.whl && rm -rf /tmp/wheels /tmp/requirements.txt \
    && useradd --create-home netspurt && mkdir /work && chown netspurt /work
USER netspurt
WORKDIR /work
ENTRYPOINT ["netspurt"]
CMD ["--help"]
