# The package without libtorch in a small image; `docker build -t outflank .`, then
# `docker run -it --rm outflank play`, or `docker run --rm -p 8484:8484 outflank web --host 0.0.0.0 --token
# a-long-secret --no-open`. `scripts/package.sh` makes and tries the archive that it unpacks.
FROM rust:1.95-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN scripts/package.sh plain && mkdir /package && tar -xzf dist/outflank-*-x86_64-linux.tar.gz -C /package --strip-components 1

FROM debian:bookworm-slim
COPY --from=build /package /opt/outflank
RUN useradd --create-home player && ln -s /opt/outflank/outflank /usr/local/bin/outflank
USER player
WORKDIR /home/player
ENTRYPOINT ["outflank"]
CMD ["--help"]
