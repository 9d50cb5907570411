import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CpuProfile } from '../bench/profile.ts'
import { profileTable, roomOf, sharesOf } from '../bench/profile.ts'

const checkout = 'file:///srv/steward'

/** Nodes by name and file; each is the child of the one before it. */
function chain(frames: [name: string, url: string][], sampled: [node: number, ms: number][]) {
  const nodes = frames.map(([functionName, url], id) => ({
    id,
    callFrame: { functionName, url, lineNumber: 4 },
    children: id + 1 < frames.length ? [id + 1] : [],
  }))
  const profile: CpuProfile = {
    nodes,
    samples: sampled.map(([node]) => node),
    timeDeltas: sampled.map(([, ms]) => ms * 1000),
  }
  return profile
}

describe('the room of a function is', () => {
  const rooms = {
    'server/engine/egress': `${checkout}/packages/server/src/engine/egress/inject/forward.ts`,
    'server/start': `${checkout}/packages/server/src/start/jobs.ts`,
    server: `${checkout}/packages/server/src/main.ts`,
    mask: `${checkout}/packages/mask/src/mask.ts`,
    'library undici': `${checkout}/node_modules/undici/lib/core/util.js`,
    'library @hono/node-server': `${checkout}/node_modules/@hono/node-server/dist/index.mjs`,
    'library b': `${checkout}/node_modules/a/node_modules/b/index.js`,
    'Node internals': 'node:internal/url',
    elsewhere: 'file:///tmp/other.js',
  }
  for (const [room, url] of Object.entries(rooms))
    it(`${room} for ${url}`, () => assert.equal(roomOf({ url }), room))
})

describe('a profile', () => {
  const file = `${checkout}/packages/server/src/ground/database/sqlite.ts`
  const profile = chain(
    [
      ['(root)', ''],
      ['run', file],
      ['exec', ''],
      ['constructor', file],
      ['(garbage collector)', ''],
      ['(idle)', ''],
    ],
    [
      [1, 10],
      [2, 25],
      [3, 5],
      [4, 10],
      [5, 50],
      [2, 0],
    ],
  )

  it('counts the time of a native function where it was called from', () => {
    const { rooms, functions } = sharesOf(profile)
    assert.deepEqual(rooms, [
      { name: 'idle', ms: 50 },
      { name: 'server/ground/database', ms: 40 },
      { name: 'garbage collection', ms: 10 },
    ])
    assert.deepEqual(functions, [
      { name: 'exec  server/src/ground/database/sqlite.ts:5', ms: 25 },
      { name: 'run  server/src/ground/database/sqlite.ts:5', ms: 10 },
      { name: 'constructor  server/src/ground/database/sqlite.ts:5', ms: 5 },
    ])
  })

  it('gives shares of all the time, and of the time that was not idle', () => {
    const table = profileTable(profile)
    assert.match(table, /^server\/ground\/database +40 ms +40\.0 % +80\.0 %$/m)
    assert.match(table, /^idle +50 ms +50\.0 %$/m)
  })
})
