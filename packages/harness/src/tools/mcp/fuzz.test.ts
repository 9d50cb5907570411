/**
 * Lists and results of MCP servers with odd parts, drawn from a seed. No good tool and no text disappears, and what is
 * left out is named.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { httpPeer, callServerTool, openServers, awaitServers, textOf } from './mcp-fixture.ts'
import { validTool, rawAnswers } from './raw-fixture.ts'
import type { RawRequest } from './raw-fixture.ts'

const isLong = process.env['STEWARD_TEST_LONG'] === '1'
const cases = isLong ? 5_000 : 100
const firstSeed = 1_000

type Draw = { below(n: number): number; of<T>(values: readonly T[]): T }

/** A linear congruence, as Knuth gives it: enough to choose among cases. */
function draws(seed: number): Draw {
  let state = BigInt(seed)
  function below(n: number): number {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & (2n ** 64n - 1n)
    return Number((state >> 33n) % BigInt(n))
  }
  return {
    below,
    of<T>(values: readonly T[]): T {
      const found = values[below(values.length)]
      if (found === undefined) throw new Error('nothing to choose from')
      return found
    },
  }
}

const oddities = [null, 5, 'x', true, [], {}, [null], { anyOf: [null] }, '\ud83d', -0.5] as const

/** Replaces one member somewhere in the value, or leaves it out. */
function spoil(draw: Draw, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || draw.below(4) === 0) return draw.of(oddities)
  if (Array.isArray(value)) {
    if (value.length === 0) return [draw.of(oddities)]
    const at = draw.below(value.length)
    return value.map((each: unknown, index) => (index === at ? spoil(draw, each) : each))
  }
  const names = Object.keys(value)
  const name = names.length === 0 ? 'more' : draw.of(names)
  if (draw.below(5) === 0)
    return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))
  return { ...value, [name]: spoil(draw, Object.entries(value).find(([n]) => n === name)?.[1]) }
}

const rich = (name: string) => ({
  ...validTool(name),
  title: 'a title',
  description: 'a description',
  outputSchema: { type: 'object', properties: { a: { type: 'string' } } },
  annotations: { title: 'another', readOnlyHint: true },
  icons: [{ src: 'https://icons.example/a.png', mimeType: 'image/png', sizes: ['48x48'] }],
  execution: { taskSupport: 'optional' },
  _meta: { 'a/b': 1 },
})

const blocks = [
  { type: 'text', text: 'odd', annotations: { audience: ['user'], priority: 1 } },
  { type: 'image', mimeType: 'image/png', data: 'AAAA' },
  { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
  { type: 'resource', resource: { uri: 'x:1', mimeType: 'text/plain', text: 'inside' } },
  { type: 'resource_link', uri: 'x:2', name: 'two', size: 3 },
] as const

type Case = {
  list: unknown[]
  goods: string[]
  odds: unknown[]
  content: unknown[]
  texts: string[]
}

function drawCase(draw: Draw): Case {
  const goods = Array.from({ length: 1 + draw.below(3) }, (_, index) => `good_${index}`)
  const odds = Array.from({ length: 1 + draw.below(3) }, (_, index) =>
    spoil(draw, rich(`odd_${index}`)),
  )
  const texts = Array.from({ length: 1 + draw.below(3) }, (_, index) => `text ${index}`)
  const spoilt = Array.from({ length: 1 + draw.below(3) }, () => spoil(draw, draw.of(blocks)))
  return {
    ...{ goods, odds, texts },
    list: mixed(draw, [...goods.map(rich), ...odds]),
    content: [...texts.map((text) => ({ type: 'text', text })), ...spoilt],
  }
}

const mixed = <T>(draw: Draw, values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, at: draw.below(1_000_000) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)

/** The answer in one of the forms in which servers write it. */
function written(draw: Draw, id: number | undefined, result: object): Response {
  const message = {
    ...draw.of([{ jsonrpc: '2.0' }, { jsonrpc: '1.0' }, {}]),
    ...draw.of([{ id }, { id: String(id) }, { id: null }, {}]),
    ...draw.of([{}, { error: null }, { more: 1 }]),
    result: { ...result, ...draw.of([{}, { _meta: null }, { _meta: 5 }, { nextCursor: null }]) },
  }
  const text = JSON.stringify(message, null, draw.of([0, 1]))
  if (draw.below(2) === 0)
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  const end = draw.of(['\n', '\r\n', '\r'])
  const lines = text.split('\n').map((line) => `data:${draw.of(['', ' '])}${line}${end}`)
  const head = draw.of(['', `: a comment${end}`, `id: 7${end}`, `event: message${end}`])
  const body = `${head}${lines.join('')}${draw.of([end, ''])}`
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

void describe('lists and results of MCP servers with odd parts', () => {
  void it(`keep what is good and name what is not: ${cases} cases`, async () => {
    let seed = firstSeed
    let current = drawCase(draws(seed))
    await using server = await httpPeer(
      rawAnswers(({ id, method }: RawRequest) => {
        const draw = draws(seed * 7 + method.length)
        if (method === 'tools/list') return written(draw, id, { tools: current.list })
        return method === 'tools/call' ? written(draw, id, { content: current.content }) : undefined
      }),
    )
    for (; seed < firstSeed + cases; seed++) {
      current = drawCase(draws(seed))
      await check(server.url, current, `seed ${seed}`)
    }
  })
})

async function check(url: string, { list, goods, odds, texts }: Case, seed: string): Promise<void> {
  await using servers = openServers({ s: url })
  await awaitServers(servers)
  const shown = new Set(servers.tools().map(({ mcp }) => mcp?.tool))
  const said = servers.failures().map(({ message }) => message)
  for (const name of goods) assert.ok(shown.has(name), `${seed}: ${name}; ${said.join()}`)
  for (const odd of odds) {
    const name = (odd as { name?: unknown } | null)?.name
    const isShown = typeof name === 'string' && shown.has(name)
    const entry = `entry ${list.indexOf(odd) + 1} `
    const isNamed = said.some((line) => line.includes(JSON.stringify(name)) || line.includes(entry))
    assert.ok(isShown || isNamed, `${seed}: ${JSON.stringify(odd)}; ${said.join()}`)
  }
  const result = await callServerTool(servers, 'mcp__s__good_0')
  assert.equal(result.is_error, false, `${seed}: ${textOf(result)}`)
  for (const text of texts) assert.ok(textOf(result).includes(text), `${seed}: ${textOf(result)}`)
  const parts = result.content.length
  assert.ok(parts > texts.length, `${seed}: each block is shown or named`)
}
