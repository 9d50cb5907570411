import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { isMcpName, mayBelongTo, mcpName, mcpNames } from './names.ts'
import { readMcpResult } from './results.ts'
import { fitSchema } from './schema.ts'

void describe('the name of an MCP tool', () => {
  void it('is made of its server and its own where every wire takes that', () => {
    assert.equal(mcpName('files', 'read_file'), 'mcp__files__read_file')
    assert.deepEqual(mcpNames('mcp__files__read__all'), { server: 'files', tool: 'read__all' })
    assert.ok(isMcpName('mcp__files__read'))
  })

  void it('is never that of another tool, and never too long', () => {
    const pairs = [
      ['a', '_b'],
      ['a_', 'b'],
      ['a__b', 'c'],
      ['a', 'b__c'],
      ['a b', 'c'],
      ['a.b', 'c'],
      ['a_b', 'c'],
      ['é', 'c'],
      ['ü', 'c'],
      ['s', 't'.repeat(128)],
      ['s', `${'t'.repeat(127)}u`],
      ['s'.repeat(255), 't'],
      ['s'.repeat(254), 't'],
    ] as const
    const made = pairs.map(([server, tool]) => mcpName(server, tool))
    assert.equal(new Set(made).size, pairs.length)
    for (const [index, name] of made.entries()) {
      assert.match(name, /^mcp__[\w-]{1,59}$/)
      assert.ok(mayBelongTo(name, pairs[index]?.[0] ?? ''))
    }
    assert.equal(mcpName('a b', 'c'), made[4])
  })
})

void describe('the input schema of an MCP tool', () => {
  const schemaOf = (given: Record<string, unknown>) => fitSchema(given).schema

  void it('keeps the parts that wires take', () => {
    const given = {
      type: 'object',
      properties: { path: { type: 'string', minLength: 1 }, deep: { type: 'array', items: {} } },
      required: ['path'],
      additionalProperties: false,
    }
    assert.deepEqual(schemaOf({ $schema: 'https://json-schema.org/x', ...given }), given)
  })

  void it('has its references resolved, and ends where it refers to itself', () => {
    const given = {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node', description: 'the root' } },
      $defs: { node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } } },
    }
    const text = JSON.stringify(schemaOf(given))
    assert.ok(!text.includes('$ref') && !text.includes('$defs'))
    assert.match(text, /"child":\{"type":"object"/)
    assert.match(text, /"description":"the root"/)
    assert.ok(text.length < 5_000)
    assert.deepEqual(schemaOf({ properties: { a: { $ref: 'https://elsewhere/x' } } }), {
      type: 'object',
      properties: { a: {} },
    })
  })

  void it('takes the fields of all kinds of input where the top is a union', () => {
    const schema = schemaOf({
      type: 'object',
      anyOf: [
        { properties: { id: { type: 'string' } }, required: ['id'] },
        { properties: { name: { type: 'string' } }, required: ['name'] },
      ],
      additionalProperties: false,
    })
    assert.deepEqual(schema, {
      type: 'object',
      properties: { name: { type: 'string' }, id: { type: 'string' } },
    })
  })

  void it('has names that wires take, and the server gets its own back', () => {
    const { schema, toServer } = fitSchema({
      type: 'object',
      properties: { $filter: {}, _filter: {}, 'a b': {}, 'a-b': {} },
      required: ['$filter'],
    })
    const shown = Object.keys(schema.properties as object)
    assert.equal(new Set(shown).size, 4)
    for (const name of shown) assert.match(name, /^[\w.-]{1,64}$/)
    const input = Object.fromEntries(shown.map((name, index) => [name, index]))
    assert.deepEqual(toServer(input), { $filter: 0, _filter: 1, 'a b': 2, 'a-b': 3 })
    assert.deepEqual(schema.required, [shown[0]])
  })

  void it('takes no longer the more its names and parts are alike', () => {
    const names = Array.from({ length: 15_000 }, (_, n) => String.fromCodePoint(0x4e00 + n))
    const begun = process.cpuUsage()
    const { schema } = fitSchema({ properties: Object.fromEntries(names.map((name) => [name, 1])) })
    assert.equal(Object.keys(schema.properties as object).length, names.length)
    const parts = names.slice(0, 3_500).map((name) => ({ properties: { [name]: 1 } }))
    assert.equal(Object.keys(schemaOf({ anyOf: parts }).properties as object).length, parts.length)
    assert.ok(process.cpuUsage(begun).user < 1_500_000)
  })

  void it('that refers again and again to a long, empty part is any object', () => {
    for (const empty of [[], {}]) {
      const $defs = { long: { enum: Array.from({ length: 300_000 }, () => empty) } }
      const fields = Array.from({ length: 2_000 }, (_, n) => [`a${n}`, { $ref: '#/$defs/long' }])
      const given = { type: 'object', $defs, properties: Object.fromEntries(fields) as object }
      const begun = processorMs()
      assert.deepEqual(schemaOf(given), { type: 'object', properties: {} })
      assert.ok(processorMs() - begun < 1_000)
    }
  })

  void it('that refers to a text that is no path is anything', () => {
    const properties = { a: { $ref: '#/%' }, b: { $ref: '#/$defs/%E0%A4%A' } }
    assert.deepEqual(schemaOf({ properties }).properties, { a: {}, b: {} })
  })

  void it('that would grow without measure is any object', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } }
    for (let level = 1; level <= 10; level++)
      $defs[`d${level}`] = {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 40 }, (_, index) => [
            `p${index}`,
            { $ref: `#/$defs/d${level - 1}` },
          ]),
        ),
      }
    const began = processorMs()
    const schema = schemaOf({ type: 'object', properties: { a: { $ref: '#/$defs/d10' } }, $defs })
    assert.deepEqual(schema, { type: 'object', properties: {} })
    assert.ok(processorMs() - began < 1_000)
  })
})

void describe('the result of an MCP tool', () => {
  const png = Buffer.from('not really').toString('base64')

  void it('has its texts, pictures, documents and what its links say', () => {
    const { content, is_error } = readMcpResult({
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', mimeType: 'image/PNG', data: png },
        { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
        { type: 'resource', resource: { uri: 'x:1', blob: png, mimeType: 'application/pdf' } },
        { type: 'resource_link', uri: 'x:2', name: 'two', description: 'the second' },
      ],
    })
    assert.equal(is_error, false)
    assert.deepEqual(content, [
      { type: 'text', text: 'hello' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      { type: 'text', text: '[resource file:///a]\ninside' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: png } },
      { type: 'text', text: '[resource two: x:2]\nthe second' },
    ])
  })

  void it('says which parts cannot be shown', () => {
    const { content } = readMcpResult({
      content: [
        { type: 'audio', mimeType: 'audio/wav', data: png },
        { type: 'image', mimeType: 'image/svg+xml', data: png },
        { type: 'image', mimeType: 'image/png', data: '**' },
        { type: 'image', mimeType: 'image/png', data: 'A'.repeat(8 * 1024 * 1024) },
        { type: 'resource', resource: { uri: 'x:1', blob: png } },
      ],
    })
    for (const block of content) assert.match(block.type === 'text' ? block.text : '', /cannot be/)
  })

  void it('is its structure where it says nothing else', () => {
    const { content } = readMcpResult({ content: [], structuredContent: { temperature: 7 } })
    assert.deepEqual(content, [{ type: 'text', text: '{\n  "temperature": 7\n}' }])
    const said = { content: [{ type: 'text' as const, text: '7' }], structuredContent: { a: 1 } }
    assert.equal(readMcpResult(said).content.length, 1)
  })
})
