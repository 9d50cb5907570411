import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { z } from 'zod'
import { deprecations } from './deprecations.ts'
import { route } from './route.ts'

const body = z.strictObject({
  name: z.string(),
  key: z.string().optional().meta({ deprecated: true }),
})
const about = { section: 'Tests', summary: 'For tests', answer: z.looseObject({}) } as const
const made = route(
  { ...about, callers: ['anyone'], method: 'post', path: '/v1/things', body },
  async () => ({}),
)

describe('a deprecated field of a body', () => {
  it('is logged once, without its value, when a caller sends it', () => {
    const lines: string[] = []
    const note = deprecations(jsonLog((line) => lines.push(line)))
    note(made, { name: 'a' })
    assert.deepEqual(lines, [])
    for (const key of ['one secret', 'another']) note(made, { name: 'a', key })
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /deprecated field.*"route":"POST \/v1\/things","field":"key"/)
    assert.doesNotMatch(lines.join(), /secret/)
  })
})
