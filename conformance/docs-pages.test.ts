/** The documentation as the server serves it: pages for people, their sources, and lists for programs. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { linksOf } from './markdown-links.ts'
import type { TestService } from './service.ts'
import { boot } from './service.ts'
import { verifies } from './verifies.ts'

const root = join(import.meta.dirname, '..')
const sources = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).toSorted()
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** What a page names by links, pictures and styles, as addresses of this service. */
function linksOn(path: string, html: string): { address: string; anchor: string }[] {
  const named = [...html.matchAll(/(?:href|src|srcset)="([^"]+)"/g)].map(([, link = '']) => link)
  return named
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => new URL(link, `http://service/${path}`))
    .map(({ pathname, hash }) => ({
      address: pathname.slice(1),
      anchor: decodeURIComponent(hash.slice(1)),
    }))
}

describe('the documentation of a server', () => {
  let service: TestService
  before(async () => {
    service = await boot('sqlite')
  })
  after(() => service.close())

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${service.base}/${path}`, { headers, method })

  /** All answers that links lead to from the index. */
  async function walk(): Promise<Map<string, string>> {
    const seen = new Map<string, string>()
    const open = ['docs/']
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue
      const answer = await get(path, { accept: 'text/html' })
      assert.equal(answer.status, 200, path)
      const text = await answer.text()
      seen.set(path, text)
      const isPage = answer.headers.get('content-type')?.startsWith('text/html')
      // The console is there once it is built, and its pages have tests of their own.
      if (isPage && path.startsWith('docs/'))
        open.push(
          ...linksOn(path, text)
            .map(({ address }) => address)
            .filter((address) => address !== 'console/'),
        )
    }
    return seen
  }

  verifies(
    ['http/routes/docs', 'auth/required'],
    'leads from its index to every page, and every link to a page and a heading',
    async () => {
      const seen = await walk()
      for (const source of sources) assert.ok(seen.has(source), `nothing leads to ${source}`)
      const links = [...seen].flatMap(([path, text]) =>
        path.startsWith('docs/') && !path.endsWith('.md') ? linksOn(path, text) : [],
      )
      assert.ok(links.length > 1_000)
      const broken = links.filter(
        ({ address, anchor }) => anchor !== '' && !seen.get(address)?.includes(`id="${anchor}"`),
      )
      assert.deepEqual(broken, [])
    },
  )

  verifies(['http/routes/docs'], 'has the source of each page, byte by byte', async () => {
    for (const source of sources) {
      const answer = await get(source)
      assert.equal(answer.headers.get('content-type'), 'text/markdown; charset=utf-8', source)
      assert.equal(await answer.text(), textOf(source), source)
    }
  })

  it('serves what the sources link to, at the addresses that they give', async () => {
    const links = sources.flatMap((source) => linksOf(source, textOf(source)))
    const paths = new Set(links.map(({ path }) => path))
    for (const path of paths) {
      const answer = await get(path)
      assert.equal(answer.status, 200, path)
      await answer.body?.cancel()
    }
  })

  it('shows every page without a script, and lets it load nothing from elsewhere', async () => {
    for (const path of [
      'docs/',
      'docs/interface',
      'docs/words.md',
      'docs/pictures/home-light.png',
    ]) {
      const answer = await get(path)
      const policy = answer.headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self' data:;/)
      assert.ok(!/unsafe|script|https?:|\*/.test(policy), policy)
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      assert.doesNotMatch(await answer.text(), /<script/)
    }
  })

  it('sends nothing again that the caller has, and no body to HEAD', async () => {
    for (const path of ['docs/', 'docs/words.md', 'docs/pictures/home-light.png', 'llms.txt']) {
      const first = await get(path)
      const etag = first.headers.get('etag') ?? ''
      const { length } = await first.bytes()
      const again = await get(path, { 'if-none-match': `"other", ${etag}` })
      assert.deepEqual([again.status, (await again.bytes()).length], [304, 0], path)
      const other = await get(path, { 'if-none-match': '"other"' })
      assert.equal((await other.bytes()).length, length)
      const head = await get(path, { 'accept-encoding': 'identity' }, 'HEAD')
      assert.equal(head.status, 200)
      assert.equal(head.headers.get('content-length'), String(length), path)
      assert.equal((await head.bytes()).length, 0)
    }
  })

  it('says at an unknown address where the index is, as a page or as an error', async () => {
    const page = await get('docs/a/b', { accept: 'text/html' })
    assert.equal(page.status, 404)
    const text = await page.text()
    assert.ok(linksOn('docs/a/b', text).some(({ address }) => address === 'docs/'))
    const error = await get('docs/a/b.md')
    assert.equal(error.status, 404)
    assert.match(await error.text(), /there is no page \/docs\/a\/b\.md; \/docs\/ lists all pages/)
  })

  it('has nothing of the machine beside its pages', async () => {
    const outside = [
      '..%2fpackage.json',
      '%2e%2e/package.json',
      '..%5cpackage.json',
      '%2fetc%2fpasswd',
    ]
    for (const path of [...outside, 'figures', 'decisions/../../package.json%00.md', '__proto__'])
      assert.ok([400, 404].includes((await get(`docs/${path}`)).status), path)
  })

  it('leads from other addresses of a page to the page', async () => {
    const moved = {
      'docs/README': 'docs/',
      'docs/decisions': 'docs/decisions/',
      'docs/words/': 'docs/words',
    }
    for (const [from, to] of Object.entries({ ...moved, 'docs/quickstart.md': 'README.md' }))
      assert.equal((await get(from)).url, `${service.base}/${to}`)
  })

  verifies(['http/routes/docs'], 'lists its pages for programs, each with a sentence', async () => {
    const answer = await get('llms.txt')
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
    const text = await answer.text()
    assert.match(text, /^# Steward\n\n> Steward is .+\n\n/)
    const items = text.split('\n').filter((line) => line.startsWith('- ['))
    const listed = items.map(
      (line) => /^- \[[^\]]+\]\(\/([^)]+\.md)\): \S.*$/.exec(line)?.[1] ?? line,
    )
    const withoutIndexes = sources.filter((source) => !/^docs\/(?:.+\/)?README\.md$/.test(source))
    const rest = withoutIndexes.filter((source) => !listed.includes(source))
    assert.deepEqual(rest, ['AGENTS.md', 'CODE_OF_CONDUCT.md', 'REVIEW.md'])
    for (const path of listed) assert.ok(sources.includes(path), path)
    assert.ok(text.indexOf('docs/decisions/') > text.indexOf('\n## Optional\n'))
    const full = await (await get('llms-full.txt')).text()
    assert.ok(full.includes(textOf('docs/interface.md')))
  })
})
