# A machine for the labs: Debian 12 with what tools/setup.sh installs, and a user without rights, for whom the grader's
# sandbox is whole (docs/machines.md). The kit itself is not in it: its folder is mounted.
#
#   docker build -t gradus .
#   docker run --rm -it -v "$PWD":/home/student/gradus gradus
#
# DIGEST=sha256:... names one image for a whole term; UID= is the number of the user who owns the folder.
ARG DIGEST=
FROM debian:12${DIGEST:+@${DIGEST}}
ARG UID=1000
COPY tools/setup.sh /usr/local/lib/gradus/tools/setup.sh
RUN /usr/local/lib/gradus/tools/setup.sh && apt-get clean && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash --uid "$UID" student && install -d -o student /home/student/gradus
ENV LANG=C.UTF-8
USER student
WORKDIR /home/student/gradus
CMD ["bash"]
