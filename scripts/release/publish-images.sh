#!/bin/sh
# Pushes the images that `npm run release -- --images` has made to the registry of the code host, one name for both
# architectures, and signs them by the identity of the workflow. Run by .github/workflows/release.yml alone.
set -eu
version=$(node -p 'require("./package.json").version')
registry="ghcr.io/$(printf '%s' "$GITHUB_REPOSITORY_OWNER" | tr '[:upper:]' '[:lower:]')"
printf '%s' "$GITHUB_TOKEN" | docker login ghcr.io --username "$GITHUB_ACTOR" --password-stdin

# The names that deploy/ uses.
for target in server worker; do
  case $target in
  server) name="$registry/steward" ;;
  worker) name="$registry/steward-worker" ;;
  esac
  parts=''
  for architecture in amd64 arm64; do
    archive="release/steward-$version-$target-$architecture.tar"
    [ -f "$archive" ] || continue
    loaded=$(docker load --quiet --input "$archive" | sed 's/^Loaded image: //')
    docker tag "$loaded" "$name:$version-$architecture"
    docker push "$name:$version-$architecture"
    parts="$parts $name:$version-$architecture"
  done
  # shellcheck disable=SC2086  # one word for each architecture
  docker buildx imagetools create --tag "$name:$version" $parts
  cosign sign --yes "$name:$version"
done
