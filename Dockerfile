# `canter` and nothing else: the search engine is inside the binary. The release workflow lays the binaries out as
# amd64/canter and arm64/canter; to build it here:
#
#   cargo xtask dist && mkdir -p image/amd64 && cp target/dist/canter image/amd64
#   docker build --file Dockerfile --platform linux/amd64 image
FROM debian:trixie-slim
# The roots of trust for https:// and s3://.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
ARG TARGETARCH
COPY ${TARGETARCH}/canter /usr/local/bin/canter
USER nobody
ENTRYPOINT ["/usr/local/bin/canter"]
CMD ["--help"]
