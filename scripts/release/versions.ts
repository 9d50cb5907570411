/** The version of this repository: it stands in package.json, and these files repeat it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { root } from '../house/sources.ts'

const Manifest = z.looseObject({ version: z.string() })

export const readVersion = (): string =>
  Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).version

/** Each with the places of the version in its text. */
const repeats: readonly { path: string; pattern: RegExp }[] = [
  { path: 'package.json', pattern: /(?<=^ {2}"version": ")[^"]+/gm },
  {
    path: 'package-lock.json',
    pattern:
      /(?<=^ {2}"version": ")[^"]+|(?<=^ {4}"": \{\n {6}"name": "steward",\n {6}"version": ")[^"]+/gm,
  },
  { path: 'deploy/compose/compose.yaml', pattern: /(?<=steward\/steward:)[^}\s]+/g },
  {
    path: 'deploy/kubernetes/steward.yaml',
    pattern: /(?<=steward\/steward:|\/version: "|\/chart: steward-)[^"\s]+/g,
  },
  {
    path: 'deploy/helm/Chart.yaml',
    pattern: /(?<=^(?:version|appVersion): ")[^"]+|(?<=^(?:version|appVersion): )[^"\s]+/gm,
  },
]

/** Files that name another version than package.json, with what they name. */
export function otherVersions(): string[] {
  const version = readVersion()
  return repeats.flatMap(({ path, pattern }) => {
    const found = readFileSync(join(root, path), 'utf8').match(pattern) ?? []
    if (found.length === 0) return [`${path} names no version`]
    return found.filter((each) => each !== version).map((each) => `${path} names ${each}`)
  })
}

export function setVersion(version: string): void {
  for (const { path, pattern } of repeats) {
    const file = join(root, path)
    writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, version))
  }
}
