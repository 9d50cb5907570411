import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { requirements } from './requirements.ts'
import type { RequirementId } from './requirements.ts'

type Citation = { id: string; file: string }
type Scan = { citations: Citation[]; unreadable: string[] }

const call = /\bverifies\(\s*(\[[^\]]*\]|'[^']*'|[^\s,]+)/g
const comment = /^\s*\/\/ verifies:(.*)$/gm
const literals = /^(?:'[^']*'|\[(?:\s*'[^']*',?)+\s*\])$/
const id = /[a-z0-9-]+(?:\/[a-z0-9-]+)+/g

/**
 * The ids that a test's source cites: literal first arguments of `verifies(…)`, and comments
 * `// verifies: a/b, c/d`. Packages use comments because they must not import this folder.
 */
export function citationsIn(source: string, file: string): Scan {
  const citations: Citation[] = []
  const unreadable: string[] = []
  const cite = (cited: string, whole: string) => {
    const ids = cited.match(id)
    if (ids === null) unreadable.push(`${file}: ${whole.trim()}`)
    for (const each of ids ?? []) citations.push({ id: each, file })
  }
  for (const [whole, ids = ''] of source.matchAll(call)) cite(literals.test(ids) ? ids : '', whole)
  for (const [whole, ids = ''] of source.matchAll(comment)) cite(ids, whole)
  return { citations, unreadable }
}

const root = fileURLToPath(new URL('../', import.meta.url))

/** Every citation of the repository's tests. */
export function scanTests(): Scan {
  const files = globSync(['conformance/**/*.test.ts', 'packages/*/src/**/*.test.ts'], { cwd: root })
  const scans = files
    .filter((file) => file !== 'conformance/coverage.test.ts')
    .map((file) => citationsIn(readFileSync(`${root}${file}`, 'utf8'), file))
  return {
    citations: scans.flatMap((scan) => scan.citations),
    unreadable: scans.flatMap((scan) => scan.unreadable),
  }
}

export function isRequirement(candidate: string): candidate is RequirementId {
  return Object.hasOwn(requirements, candidate)
}

/** Delivered requirements that no test cites, in the order of their ids. */
export function uncitedIn({ citations }: Scan): RequirementId[] {
  const cited = new Set(citations.map((citation) => citation.id))
  return Object.keys(requirements)
    .filter(isRequirement)
    .filter((each) => requirements[each].deferred === undefined && !cited.has(each))
    .toSorted()
}
