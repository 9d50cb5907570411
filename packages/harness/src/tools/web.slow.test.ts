/** The web tools over real HTTP. One server stands for all hosts: `http://a.test/x` is its path `/a.test/x`. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { RequestRefused } from '@steward/gate/outbound.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import { shutEgress } from '../fixture.ts'
import { commonDomains } from './domains.ts'
import type { WebAccess } from './egress.ts'
import type { GuardedFetch } from './fetch.ts'
import type { TestPeer } from './mcp/mcp-fixture.ts'
import { httpPeer } from './mcp/mcp-fixture.ts'
import type { ToolResult } from './tool.ts'
import { buildTools } from './toolset.ts'
import type { SearchProvider } from './web-search/provider.ts'
import { tavilySearch } from './web-search/tavily.ts'

type TestPages = Record<string, (request: Request) => Response | Promise<Response>>
const never = new AbortController().signal
const textOf = ({ content }: ToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
const page = (body: string | Buffer<ArrayBuffer>, type: string, status = 200) =>
  new Response(body, { status, headers: { 'content-type': type } })
const to = (location: string, status = 302) => new Response(null, { status, headers: { location } })

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A PDF with one page that says hello. */
function pdf(): Buffer<ArrayBuffer> {
  const stream = 'BT /F1 24 Tf 72 720 Td (Hello from a PDF) Tj ET'
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let body = '%PDF-1.4\n'
  const starts = objects.map((object, index) => {
    const at = body.length
    body += `${index + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const rows = starts.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF`
  return Buffer.from(`${body}xref\n0 6\n0000000000 65535 f \n${rows}${trailer}`)
}

const pages: TestPages = {
  'a.test/': () =>
    page(
      '<html><head><title>A &amp; B</title><style>x{}</style></head><body><h1>Hello</h1><p>Read <a href="/more">more</a></p><script>evil()</script></body></html>',
      'text/html; charset=utf-8',
    ),
  'a.test/latin': () =>
    page(Buffer.from('<p>gr\xfc\xdfe</p>', 'latin1'), 'text/html; charset=iso-8859-1'),
  'a.test/meta': () =>
    page(Buffer.from('<meta charset="windows-1252"><p>\x80 5</p>', 'latin1'), 'text/html'),
  'a.test/strange': () => page('plain', 'text/plain; charset=none-such'),
  'a.test/json': () => page('{"a":1}', 'application/json'),
  'a.test/pdf': () => page(pdf(), 'application/pdf'),
  'a.test/broken-pdf': () => page('%PDF-1.4 nothing', 'application/pdf'),
  'a.test/png': () => page(png, 'application/octet-stream'),
  'a.test/zip': () => page(Buffer.from('PK\x03\x04'), 'application/zip'),
  'a.test/gone': () => page('not here', 'text/plain', 404),
  'a.test/long': () => page('word '.repeat(5_000), 'text/plain'),
  'a.test/huge': () => page('x'.repeat(11 * 1024 * 1024), 'text/plain'),
  'a.test/many': () => page('<p>hello <b>world</b></p>'.repeat(40_000), 'text/html'),
  'a.test/hop': () => to('http://www.b.test/there'),
  'a.test/loop': () => to('/loop'),
  'a.test/file': () => to('file:///etc/passwd'),
  'a.test/login': () => to('http://user:pass@a.test/'),
  'www.b.test/there': () => page('arrived', 'text/plain'),
  'a.test/headers': (request) => page(JSON.stringify([...request.headers.keys()]), 'text/plain'),
  'a.test/silent': () => new Promise(() => {}),
}

let peer: TestPeer
const anySlot: WebAccess['conversionSlot'] = async () => () => {}
let takeSlot = anySlot
let asked: string[] = []
const fetchHosts: GuardedFetch = (url, init) => {
  const { host, pathname, port } = new URL(url)
  asked.push(`${host}${pathname}`)
  if (host === 'refused.test')
    return Promise.reject(
      new RequestRefused({
        host,
        port: Number(port),
        reason: 'denied',
        message: 'on the denylist',
      }),
    )
  return fetch(new URL(`/${host}${pathname}`, peer.url), init)
}

function tool(name: 'web_fetch' | 'web_search', config: object = {}, search?: SearchProvider) {
  const conversionSlot = (signal: AbortSignal) => takeSlot(signal)
  const web = { fetch: fetchHosts, conversionSlot, search: search ?? null }
  const sandbox = () => Promise.reject(new SandboxEnded('there is none'))
  const entry = { type: 'agent_toolset_20260401' as const, configs: [{ name, ...config }] }
  const found = buildTools([entry], { ...shutEgress, web, sandbox }).find(
    (each) => each.name === name,
  )
  assert.ok(found)
  return (input: Record<string, unknown>, signal = never) => {
    asked = []
    return found.run(input, { signal })
  }
}
const get = (path: string, config: object = {}) =>
  tool('web_fetch', config)({ url: path.includes(':') ? path : `http://a.test/${path}` })

void describe('web_fetch', () => {
  before(async () => {
    peer = await httpPeer((request) => {
      const answer = pages[new URL(request.url).pathname.slice(1)]
      return answer ? answer(request) : new Response('no such page', { status: 404 })
    })
  })
  after(() => peer[Symbol.asyncDispose]())

  void it('makes markdown of a page, with its title and links that lead somewhere', async () => {
    const result = await get('')
    assert.equal(result.is_error, false)
    assert.equal(
      textOf(result),
      'A & B\nhttp://a.test/\n\n# Hello\n\nRead [more](http://a.test/more)',
    )
  })

  void it('reads each encoding, as the page or its head says', async () => {
    assert.match(textOf(await get('latin')), /grüße/)
    assert.match(textOf(await get('meta')), /€ 5/)
    assert.match(textOf(await get('strange')), /plain/)
  })

  void it('gives text and JSON as they are, the text of a PDF, and pictures to look at', async () => {
    assert.match(textOf(await get('json')), /\{"a":1\}/)
    assert.match(textOf(await get('pdf')), /\[page 1\]\nHello from a PDF/)
    const { content } = await get('png')
    assert.deepEqual(content[1], {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') },
    })
  })

  void it('converts in a slot that it releases, and waits for a slot until it is interrupted', async () => {
    const hosts: string[] = []
    takeSlot = async () => {
      hosts.push('taken')
      return () => hosts.push('left')
    }
    await get('json')
    assert.deepEqual(hosts, [], 'a text needs no conversion')
    await get('broken-pdf')
    assert.deepEqual(hosts, ['taken', 'left'])
    const interrupt = new AbortController()
    const waits = Promise.withResolvers<void>()
    takeSlot = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        waits.resolve()
      })
    const result = tool('web_fetch')({ url: 'http://a.test/' }, interrupt.signal)
    await waits.promise
    interrupt.abort()
    assert.equal(textOf(await result), 'interrupted')
    takeSlot = anySlot
  })

  void it('says what it cannot read', async () => {
    for (const [path, why] of [
      ['zip', /unsupported_content_type: application\/zip/],
      ['broken-pdf', /unavailable/],
      ['gone', /url_not_accessible: .*404\nnot here/],
      ['nothing at all', /404/],
      ['ftp://a.test/', /invalid_input/],
      ['http://user:pass@a.test/', /invalid_input: it holds credentials/],
      ['file:///etc/passwd', /invalid_input/],
      ['http://refused.test/', /url_not_accessible: egress denied: refused.test .*denylist/],
      [`http://a.test/${'x'.repeat(2_100)}`, /invalid_input/],
    ] as const) {
      const result = await get(path)
      assert.equal(result.is_error, true, path)
      assert.match(textOf(result), why)
    }
  })

  void it('follows redirects itself, judges each hop, and gives up on a circle', async () => {
    assert.match(textOf(await get('hop')), /www\.b\.test\/there\n\narrived/)
    assert.match(textOf(await get('loop')), /more than 10 redirects/)
    assert.equal(asked.length, 11)
    assert.match(textOf(await get('file')), /invalid_input: a redirect is neither/)
    assert.match(textOf(await get('login')), /invalid_input: a redirect holds credentials/)
    const denied = await get('hop', { allowed_domains: ['a.test'] })
    assert.match(textOf(denied), /url_not_allowed: .*www\.b\.test/)
    assert.deepEqual([denied.is_error, asked], [true, ['a.test/hop']])
  })

  void it('keeps to the lists, downward only', async () => {
    assert.match(textOf(await get('', { blocked_domains: ['a.test'] })), /url_not_allowed/)
    assert.deepEqual(asked, [])
    assert.match(
      textOf(await get('http://www.b.test/there', { allowed_domains: ['b.test'] })),
      /arrived/,
    )
    const up = await get('http://www.b.test/there', { allowed_domains: ['x.www.b.test'] })
    assert.match(textOf(up), /url_not_allowed/)
    const other = await get('http://www.b.test/there', { blocked_domains: ['w.b.test'] })
    assert.match(textOf(other), /arrived/)
  })

  void it('gives no more than the tokens it may, and none of a page without end', async () => {
    const said = textOf(await get('long', { max_content_tokens: 10 }))
    assert.match(said, /\[cut after 10 tokens\]$/)
    assert.ok(said.length < 120)
    assert.match(textOf(await get('huge')), /only the beginning/)
  })

  void it('shows the words of a page that takes too long to convert', async () => {
    assert.match(textOf(await get('many', { max_content_tokens: 5 })), /hello world/)
  })

  void it('sends no cookies and no credentials', async () => {
    const names = textOf(await get('headers'))
    assert.doesNotMatch(names, /cookie|authorization/)
  })

  void it('ends when it is interrupted', async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 30)
    const result = await tool('web_fetch')({ url: 'http://a.test/silent' }, stop.signal)
    assert.deepEqual([textOf(result), result.is_error], ['interrupted', true])
  })
})

void describe('web_search', () => {
  const hit = (url: string) => ({ url, title: `title of ${url}`, content: 'words' })
  const engine = async (answer: (body: Record<string, unknown>, request: Request) => Response) => {
    const server = await httpPeer(async (request) =>
      answer((await request.json()) as Record<string, unknown>, request),
    )
    const provider = tavilySearch({ apiKey: 'tvly-1', baseUrl: new URL(server.url).origin })
    // The stub has an address of its own.
    const search: SearchProvider = {
      search: (query, options) => provider.search(query, { ...options, fetch }),
    }
    return { search, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }
  const found = (...urls: string[]) => Response.json({ results: urls.map(hit) })

  void it('says that it is not set up', async () => {
    const result = await tool('web_search')({ query: 'x' })
    assert.equal(result.is_error, true)
    assert.match(textOf(result), /not set up.*operator/)
  })

  void it('hides the key where the engine repeats it', async () => {
    const apiKey = 'tvly-"1234567890"'
    const told = `${apiKey} ${JSON.stringify({ apiKey })}`
    const repeat = () => Response.json({ results: [{ ...hit('https://a.test/1'), content: told }] })
    const engine = tavilySearch({ apiKey, baseUrl: 'https://engine.test' })
    const options = { fetch: async () => repeat(), signal: never }
    const found = await engine.search({ query: 'x', allowed: [], blocked: [] }, options)
    assert.ok(found.ok)
    const stars = (spelled: string) => '*'.repeat(spelled.length)
    const spelled = JSON.stringify(apiKey).slice(1, -1)
    assert.equal(found.hits[0]?.text, `${stars(apiKey)} {"apiKey":"${stars(spelled)}"}`)
  })

  void it('asks the engine with its key, and gives what it found', async () => {
    let seen: unknown
    await using server = await engine((body, request) => {
      seen = [new URL(request.url).pathname, request.headers.get('authorization'), body]
      return found('https://a.test/1')
    })
    const location = { user_location: { type: 'approximate', country: 'de' } }
    const result = await tool('web_search', location, server.search)({ query: 'tea' })
    assert.deepEqual(seen, [
      '/search',
      'Bearer tvly-1',
      { query: 'tea', max_results: 10, country: 'germany' },
    ])
    assert.deepEqual(result.content, [
      {
        type: 'search_result',
        source: 'https://a.test/1',
        title: 'title of https://a.test/1',
        content: [{ type: 'text', text: 'words' }],
        citations: { enabled: false },
      },
    ])
  })

  void it('omits results that the lists rule out, whatever the engine does', async () => {
    const bodies: Record<string, unknown>[] = []
    await using server = await engine((body) => {
      bodies.push(body)
      return found('https://a.test/docs/1', 'https://a.test/blog', 'https://b.test/', 'nonsense')
    })
    const sources = async (config: object) => {
      const { content } = await tool('web_search', config, server.search)({ query: 'x' })
      return content.map((block) => (block.type === 'search_result' ? block.source : block.type))
    }
    assert.deepEqual(await sources({ allowed_domains: ['a.test/docs'] }), ['https://a.test/docs/1'])
    assert.deepEqual(await sources({ blocked_domains: ['a.test/docs', 'b.test'] }), [
      'https://a.test/blog',
    ])
    assert.deepEqual(await sources({ allowed_domains: ['c.test'] }), ['text'])
    assert.deepEqual(
      bodies.map(({ include_domains, exclude_domains }) => [include_domains, exclude_domains]),
      [
        [['a.test'], undefined],
        [undefined, ['b.test']],
        [['c.test'], undefined],
      ],
    )
  })

  void it('asks the engine nothing when no domain remains', async () => {
    await using server = await engine(() => assert.fail('the engine was asked'))
    const run = tool('web_search', { allowed_domains: [] }, server.search)
    const result = await run({ query: 'x' })
    assert.ok(result.is_error)
    assert.match(textOf(result), /^url_not_allowed: no domain is left/)
  })

  void it('says what went wrong, without the key', async () => {
    for (const [answer, why] of [
      [new Response('bad key tvly-1', { status: 401 }), /refuses the key/],
      [new Response('', { status: 429 }), /enough requests/],
      [new Response('', { status: 500 }), /answered 500/],
      [new Response('no json'), /makes no sense/],
    ] as const) {
      await using server = await engine(() => answer)
      const result = await tool('web_search', {}, server.search)({ query: 'x' })
      assert.equal(result.is_error, true)
      assert.match(textOf(result), why)
      assert.doesNotMatch(textOf(result), /tvly-1/)
    }
  })
})

void describe('two domain lists', () => {
  void it('have in common what both cover', () => {
    const cases: [string[] | null, string[] | null, string[] | null][] = [
      [null, null, null],
      [['a.test'], null, ['a.test']],
      [null, [], []],
      [['a.test', 'b.test'], ['b.test', 'c.test'], ['b.test']],
      [['a.test'], ['x.a.test', 'y.a.test', 'xa.test'], ['x.a.test', 'y.a.test']],
      [['A.test/'], ['a.test'], ['a.test']],
      [['a.test'], ['b.test'], []],
      [['a.test/docs'], ['x.a.test'], ['x.a.test/docs']],
      [['a.test/docs'], ['a.test/docs/v2', 'a.test/blog'], ['a.test/docs/v2']],
      [['a.test/docs'], ['a.test/docsite'], []],
    ]
    for (const [one, other, common] of cases) {
      assert.deepEqual(commonDomains(one, other), common, JSON.stringify([one, other]))
      assert.deepEqual(commonDomains(other, one)?.toSorted(), common?.toSorted())
    }
  })
})
