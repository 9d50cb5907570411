import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PlatformError } from '../core/errors.ts'
import { underWay } from './under-way.ts'

const isRefused = (kind: string) => (error: unknown) =>
  error instanceof PlatformError && error.kind === kind

describe('bytes under way', () => {
  it('are bounded for a tenant and in all, and make room when they are released', () => {
    const bodies = underWay('bodies', { all: 150, tenant: 100 })
    const first = bodies.open('a')
    first.hold(60)
    first.hold(80)
    const second = bodies.open('a')
    assert.throws(() => second.hold(21), isRefused('rate_limited'))
    second.hold(20)
    const other = bodies.open('b')
    assert.throws(() => other.hold(51), isRefused('unavailable'))
    other.hold(50)
    first.release()
    first.release()
    second.hold(100)
    assert.throws(() => first.hold(1), isRefused('rate_limited'))
    other.release()
    second.release()
    bodies.open('c').hold(100)
    bodies.open('b').hold(50)
  })
})
