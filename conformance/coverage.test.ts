import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { citationsIn, isRequirement, scanTests, uncitedIn } from './citations.ts'
import { danglingReferences, referenceChecker } from './references.ts'
import { requirements } from './requirements.ts'
import { readSpecification } from './specification.ts'
import { uncovered } from './uncovered.ts'

const specification = readFileSync(new URL('../docs/interface.md', import.meta.url), 'utf8')
const scan = scanTests()
const cited = new Set(scan.citations.map((citation) => citation.id))

describe('the manifest of requirements', () => {
  it('says what docs/interface.md says (else: node scripts/requirements.ts)', () => {
    const written = readSpecification(specification).flatMap((chapter) => [...chapter.requirements])
    assert.deepEqual(requirements, Object.fromEntries(written))
  })

  it('has no line of docs/interface.md that only looks like a requirement', () => {
    const ids = specification.match(/\[[\w-]+(?:\/[\w-]+)+[^\]]*\](?: \|)?$/gm) ?? []
    assert.equal(ids.length, Object.keys(requirements).length)
  })
})

describe('the tests', () => {
  it('cite ids as literals, so that a scan can find them', () => {
    assert.deepEqual(scan.unreadable, [])
  })

  it('cite only requirements that exist', () => {
    assert.deepEqual(
      scan.citations.filter(({ id }) => !isRequirement(id)),
      [],
    )
  })

  it('cite no requirement that is still deferred: take its mark out of docs/interface.md', () => {
    const stale = scan.citations.filter(
      ({ id }) => isRequirement(id) && requirements[id].deferred !== undefined,
    )
    assert.deepEqual(stale, [])
  })

  it('cite every delivered requirement, but for the list of uncovered ones', () => {
    const listed = new Set(uncovered)
    assert.deepEqual(
      uncitedIn(scan).filter((id) => !listed.has(id)),
      [],
    )
  })
})

describe('the list of uncovered requirements (node scripts/uncovered.ts)', () => {
  it('names none that a test cites', () => {
    assert.deepEqual(
      uncovered.filter((id) => cited.has(id)),
      [],
    )
  })

  it('names none that is unknown, deferred or named twice', () => {
    const wrong = uncovered.filter(
      (id, index) =>
        !isRequirement(id) ||
        requirements[id].deferred !== undefined ||
        uncovered.indexOf(id) !== index,
    )
    assert.deepEqual(wrong, [])
  })
})

describe('a citation', () => {
  const found = (source: string) => citationsIn(source, 'x.test.ts')
  const ids = (source: string) => found(source).citations.map(({ id }) => id)

  it('is the literal first argument of verifies, one id or several', () => {
    assert.deepEqual(ids(`  verifies('agents/get', 'answers one', () => {})`), ['agents/get'])
    assert.deepEqual(ids(`verifies(\n  ['agents/get', 'agents/list'],\n  'x', () => {})`), [
      'agents/get',
      'agents/list',
    ])
  })

  it('is a comment in tests that cannot import verifies', () => {
    assert.deepEqual(ids('  // verifies: tools/bash, tools/bash/timeout\n  it(…)'), [
      'tools/bash',
      'tools/bash/timeout',
    ])
  })

  it('is reported when its ids are computed or missing', () => {
    for (const source of [
      `verifies(all, 'x', () => {})`,
      'verifies([`agents/${name}`], prove)',
      `verifies([], 'x', () => {})`,
      '// verifies: everything',
    ]) {
      assert.deepEqual(ids(source), [])
      assert.equal(found(source).unreadable.length, 1, source)
    }
  })
})

describe('a reference of comments and docs', () => {
  it('leads to a requirement, a file or a heading of this repository', () => {
    assert.deepEqual(danglingReferences(), [])
  })

  const pages: Record<string, string> = {
    'docs/interface.md': '# Interface\n## 4 Agents\n### 4.1 Fields of an agent\n',
    'docs/operations.md': '',
    'packages/gate/src/outbound.ts': '',
  }
  const check = referenceChecker(Object.keys(pages), (path) => pages[path] ?? '')
  const inCode = (comment: string) =>
    check({ path: 'packages/a/src/b.ts', text: `/** ${comment} */` })
  const inDocs = (text: string) => check({ path: 'docs/operations.md', text })

  it('is reported when its requirement, its document or its number is missing', () => {
    for (const wrong of [
      '[agents/gets]',
      'elsewhere.md 1.1',
      'docs/notes.md',
      'docs/interface.md 4.2',
      'interface.md section 5',
      'gate/inbound.ts',
    ])
      assert.equal(inCode(`Agents as they are. ${wrong}`).length, 1, wrong)
    for (const right of [
      '[agents/get] [agents/list]',
      'docs/interface.md 4.1',
      'interface.md, chapter 4',
      'gate/outbound.ts',
      'resources/x/store.ts',
      'SKILL.md',
    ])
      assert.deepEqual(inCode(`Agents as they are. ${right}`), [], right)
  })

  it('is read in comments alone: code has brackets and paths of its own', () => {
    const text = "const ids = list['a/b'] // [agents/gets]\nconst file = 'gate/inbound.ts'\n"
    assert.deepEqual(check({ path: 'packages/a/src/b.ts', text }), [])
  })

  it('is reported when a message names a document that is not there', () => {
    const named = (document: string, path: string) =>
      check({ path, text: `throw new Error('see docs/${document}.md, or stop')\n` }).length
    assert.equal(named('notes', 'packages/a/src/b.ts'), 1)
    assert.equal(named('interface', 'packages/a/src/b.ts'), 0)
    assert.equal(named('notes', 'packages/a/src/b.test.ts'), 0)
  })

  it('is reported when a link of the docs leads to no file or no heading', () => {
    assert.equal(inDocs('[fields](interface.md#fields)').length, 1)
    assert.equal(inDocs('[notes](notes.md)').length, 1)
    assert.deepEqual(inDocs('[fields](interface.md#41-fields-of-an-agent)'), [])
    assert.deepEqual(inDocs('[elsewhere](https://example.com/notes.md)'), [])
  })

  it('is reported when a number in the specification is no heading of it', () => {
    const text = (number: string) => `${pages['docs/interface.md']}As in section ${number}.`
    assert.equal(check({ path: 'docs/interface.md', text: text('9') }).length, 1)
    assert.deepEqual(check({ path: 'docs/interface.md', text: text('4.1') }), [])
  })
})
