# syntax=docker/dockerfile:1

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY tools tools
COPY migrations migrations
COPY src src
COPY console console
RUN npm run build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force

FROM node:24-bookworm-slim
WORKDIR /app
# A loopback address in a container cannot be reached from outside, with or without the embedded PostgreSQL.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
RUN mkdir /data && chown node:node /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# `imports` in package.json resolves to dist at run time. `npm run create-admin-key` runs a script of tools first.
COPY package.json ./
COPY tools tools
# The `posthorn` command, and the package that extensions below this folder import.
RUN chmod +x dist/src/posthorn.js && ln -s /app/dist/src/posthorn.js /usr/local/bin/posthorn && ln -s .. node_modules/posthorn
USER node
VOLUME /data
EXPOSE 3000 2525
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Not through npm, which would not pass the signal on. The options of Node.js are those of `npm start`.
CMD ["posthorn"]
