/** The official clients match statuses, types and codes of errors, and never the words of a message. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, before, describe, it } from 'node:test'
import { APIError } from '@anthropic-ai/sdk'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { acknowledge, newPool, poll, sessionIn } from '../workers.ts'

const clients = ['@anthropic-ai/sdk', '@anthropic-ai/sdk-0.120', '@anthropic-ai/sdk-oldest']
/** Finds code that compares the message of an error with words. */
const matches =
  /message\b[^;\n]{0,40}?\.(?:includes|startsWith|endsWith|match|search|indexOf)\(([^)]*)\)/g
/** Words of the platform's `fetch`, not of a service. */
const platformWords = ["'FetchRequestCanceledException'"]

async function sourcesOf(client: string): Promise<string[]> {
  const folder = dirname(fileURLToPath(import.meta.resolve(client)))
  const names = await readdir(folder, { recursive: true })
  const programs = names.filter((name) => name.endsWith('.mjs') && !name.includes('_vendor'))
  return Promise.all(programs.map((name) => readFile(join(folder, name), 'utf8')))
}

describe('the errors that clients match on', () => {
  let service: TestService
  before(async () => void (service = await boot('sqlite')))
  after(() => service.close())

  for (const client of clients)
    it(`are matched by no words of a message in ${client}`, async () => {
      const sources = await sourcesOf(client)
      assert.ok(sources.length > 20, String(sources.length))
      const words = sources.flatMap((text) => [...text.matchAll(matches)].map(([, word]) => word))
      assert.deepEqual(
        words.filter((word) => !platformWords.includes(word ?? '')),
        [],
      )
    })

  const failureOf = async (asked: () => PromiseLike<unknown>): Promise<APIError> => {
    const error: unknown = await asked().then(
      () => undefined,
      (failure: unknown) => failure,
    )
    assert.ok(error instanceof APIError)
    return error
  }

  verifies('errors/body', 'have the codes of the official types', async () => {
    const { environments, agents, memoryStores } = service.client.beta
    const cloud = await environments.create({ name: fresh('cloud') })
    const turned = { config: { type: 'self_hosted' as const } }
    const archived = await environments.create({ name: fresh('archived') })
    await environments.archive(archived.id)
    const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v']))
    const store = await memoryStores.create({ name: 'a store' })
    const memory = { path: '/a', content: 'a' }
    await memoryStores.memories.create(store.id, memory)
    const coded: [() => PromiseLike<unknown>, number, string | null, string | null][] = [
      [
        () => environments.update(cloud.id, turned),
        ...([400, 'invalid_request_error', 'invalid_config_type_change'] as const),
      ],
      [
        () => environments.update(archived.id, { description: 'x' }),
        ...([400, 'invalid_request_error', 'environment_archived'] as const),
      ],
      [
        () => environments.retrieve('env_none'),
        ...([404, 'not_found_error', 'environment_not_found'] as const),
      ],
      [
        () => environments.create({ name: fresh('m'), metadata }),
        ...([400, 'invalid_request_error', 'invalid_metadata'] as const),
      ],
      [
        () => memoryStores.memories.create(store.id, memory),
        ...([409, 'memory_path_conflict_error', null] as const),
      ],
      [() => agents.retrieve('agent_none'), ...([404, 'not_found_error', null] as const)],
    ]
    for (const [asked, status, type, code] of coded) {
      const { error, ...failure } = await failureOf(asked)
      assert.deepEqual([failure.status, failure.type, failure.errorCode], [status, type, code])
      assert.ok(error)
    }
  })

  verifies('errors/case/stale-heartbeat', 'name the state of a lease that is lost', async () => {
    const pool = await newPool(service)
    await sessionIn(service, pool)
    const item = await poll(service, pool)
    assert.ok(item)
    await acknowledge(service, pool, item.id)
    const path = `${pool.path}/work/${item.id}/heartbeat?expected_last_heartbeat=another`
    const headers = { 'x-api-key': '', authorization: `Bearer ${pool.key}` }
    const answer = await service.ask<{ error: { details: object } }>('POST', path, {}, headers)
    assert.equal(answer.status, 412)
    const { details } = answer.body.error
    assert.ok('error_code' in details && details.error_code === 'heartbeat_precondition_failed')
    assert.ok('current_state' in details)
  })
})
