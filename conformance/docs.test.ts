/** The pages for people: their links lead somewhere, and each page is listed in the index. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { PageLink } from './markdown-links.ts'
import { anchorsOf, linksOf } from './markdown-links.ts'

const root = join(import.meta.dirname, '..')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).toSorted()
const read = (page: string) => readFileSync(join(root, page), 'utf8')
function isBroken({ path, anchor }: PageLink): boolean {
  if (path.startsWith('..') || !existsSync(join(root, path))) return true
  return anchor !== undefined && !anchorsOf(read(path)).has(anchor)
}

const shown = ({ page, target }: PageLink) => `${page}: ${target}`

describe('a page for people', () => {
  it('links to files and headings that exist', () => {
    const links = pages.flatMap((page) => linksOf(page, read(page)))
    assert.ok(links.length > 50, 'too few links were found')
    assert.deepEqual(links.filter(isBroken).map(shown), [])
  })

  it('is listed in docs/README.md when it lies below docs, and a decision record in its own list', () => {
    const listedIn = (index: string) => new Set(linksOf(index, read(index)).map(({ path }) => path))
    const [index, records] = ['docs/README.md', 'docs/decisions/README.md']
    const [listed, listedRecords] = [listedIn(index), listedIn(records)]
    const unlisted = pages.filter((page) => {
      if (!page.startsWith('docs/') || page === index || page === records) return false
      return !(page.startsWith('docs/decisions/') ? listedRecords : listed).has(page)
    })
    assert.deepEqual(unlisted, [])
    for (const page of ['CONTRIBUTING.md', 'docs/architecture.md'])
      assert.ok(listedIn(page).has(records), `${page} does not link to ${records}`)
  })
})

describe('the check of links', () => {
  const broken = (markdown: string) => linksOf('docs/README.md', markdown).filter(isBroken).length

  it('refuses a missing file, a missing heading and a path out of the repository', () => {
    assert.equal(broken('[a](nowhere.md) [b](words.md#no-such-heading) [c](../../etc/passwd)'), 3)
  })

  it('accepts headings with code, numbers and repetitions, and ignores code and other sites', () => {
    assert.equal(
      broken('[a](interface.md#22-two-dialects) [b](https://example.com/x) `[c](nowhere.md)`'),
      0,
    )
    assert.deepEqual(
      [...anchorsOf('# A `b` (c)\n## Same\n## Same\n```\n# no\n```\n')],
      ['a-b-c', 'same', 'same-1'],
    )
  })
})
