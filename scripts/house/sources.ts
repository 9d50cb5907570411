import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A file of code that somebody writes; `isTest` holds for suites, fixtures and all that runs only with them. */
export type Source = { path: string; text: string; lines: string[]; isTest: boolean }

export const root = fileURLToPath(new URL('../../', import.meta.url))

const patterns = ['packages/*/src/**/*.{ts,tsx,mjs}', '{conformance,bench,scripts}/**/*.ts']
const generated = /\.gen\.ts$/
const test =
  /\.test\.ts$|\/(?:contract|fake-model|[\w-]*fixture)\.m?[jt]s$|\/stubs\/|^(?:conformance|bench|scripts)\//

export function readSources(): Source[] {
  return globSync(patterns, { cwd: root })
    .filter((path) => !generated.test(path))
    .toSorted()
    .map((path) => {
      const text = readFileSync(`${root}${path}`, 'utf8')
      return { path, text, lines: text.trimEnd().split('\n'), isTest: test.test(path) }
    })
}
