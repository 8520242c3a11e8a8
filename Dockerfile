# The static program of a release and nothing else. `.ci/release` puts it where this file takes it from:
#
#   .ci/release && docker build -t quadrille .
#   docker run --rm -v "$PWD:/work" quadrille render scene.ply -o picture.png
FROM scratch
ARG TARGETARCH=amd64
COPY target/archives/container/${TARGETARCH}/quadrille /usr/local/bin/quadrille
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/quadrille"]
