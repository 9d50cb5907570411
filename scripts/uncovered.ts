// Rewrites the list of requirements without a test from what the tests cite now.
import { writeFileSync } from 'node:fs'
import { scanTests, uncitedIn } from '../conformance/citations.ts'

const ids = uncitedIn(scanTests())
const lines = [
  '// Written by scripts/uncovered.ts: delivered requirements that no test cites. Only ever shorter.',
  ...(ids.length > 390
    ? ['// oxlint-disable eslint/max-lines -- one id a line, until tests cite them']
    : []),
  "import type { RequirementId } from './requirements.ts'",
  '',
  '// oxfmt-ignore',
  'export const uncovered: readonly RequirementId[] = [',
  ...ids.map((id) => `  '${id}',`),
  ']',
  '',
]
writeFileSync(new URL('../conformance/uncovered.ts', import.meta.url), lines.join('\n'))
console.log(`${ids.length} requirements without a test`)
