/**
 * A service holds secrets of every kind, an agent looks for them, the server crashes, and no secret is found anywhere.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { servedBucket } from '@steward/server/ground/blobs/s3-fixture.ts'
import type { NatsServer } from '@steward/server/ground/bus/nats/fixture.ts'
import { natsServer } from '@steward/server/ground/bus/nats/fixture.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { Canary } from './canaries/canary.ts'
import { foundIn, foundInFolder } from './canaries/canary.ts'
import type { PlayedScene } from './canaries/scene.ts'
import { playScene } from './canaries/scene.ts'
import { registryOf } from './canaries/registry.ts'
import type { CanaryContents, CanarySecrets } from './canaries/secrets.ts'
import { bucketOf, newContents, newControl, newSecrets } from './canaries/secrets.ts'
import type { EchoingUpstream } from './canaries/upstream.ts'
import { echoingUpstream } from './canaries/upstream.ts'
import { workspaceKeyCanaries, workspaceKeyRows } from './canaries/workspace-keys.ts'
import { scenarioDatabases } from './service.ts'
import { verifies } from './verifies.ts'

/** Secrets that the service sends to no upstream. */
const kept = [
  'rootSecret',
  'previousRootSecret',
  'codeHostClient',
  'codeHostHook',
  'trackerClient',
  'trackerHook',
  'chatClient',
  'chatHook',
  'adminKey',
  'interceptor',
  'command',
  'refused',
  'hintKey',
  'databasePassword',
  'busPassword',
  'bucketKey',
  'sessionSecret',
  'mailPassword',
  'proxyPassword',
]

/** The test starts two servers and about a hundred programs. */
const patience = { timeout: 240_000 }

/** The places in which the control and the contents are found, by database. */
const inSqlite = [/^the control in steward\.db(-wal)?$/m, ...blobsIn('blobs/whole')]
const inPostgres = [
  /^the control in public\.agents$/m,
  /^the control in public\.events$/m,
  /^a rubric in public\.outcomes$/m,
  /^what a grader said in public\.outcomes$/m,
  ...blobsIn('bucket/[^/]+'),
]
const elsewhere = [
  /^what a build said in the answer to GET \/v1\/sessions\/[^/]*\/log$/m,
  /^the body of a signed request in the answer to GET \/v1\/sessions\/[^/]*\/log$/m,
  /^instructions of a dream in the answer to GET \/v1\/dreams\/[^/]*$/m,
  /^a memory in the answer to GET \/v1\/memory_stores\/[^/]*\/memories/m,
  /^a memory that an agent wrote in sandboxes\/[^/]*\/memory\//m,
  /^what a grader said in the answer to GET \/v1\/sessions\/[^/]*$/m,
  /^a skill in skills\//m,
  /^an output in the answer to GET \/v1\/files\/[^/]*\/content$/m,
  /in sandboxes\/.*\/workspace\/control\.txt$/m,
  /^a message to a model in the answer to POST \/v1\/messages$/m,
  /^the control in the log$/m,
  /in the stream .*\/stream\?include=chunks$/m,
  /in the stream .*\/stream\?replay=1&include=chunks$/m,
  /in the answer to GET \/v1\/agents\/agent_/m,
  /in the answer to GET \/v1\/sessions\/[^/]*\/events$/m,
  /in the answer to GET \/v1\/sessions\/[^/]*\/log$/m,
]

function blobsIn(source: string): RegExp[] {
  const kinds = [
    ['the control', 'checkpoints'],
    ['an output', 'files'],
    ['a skill', 'skills'],
  ]
  return kinds.map(([what, kind]) => new RegExp(`^${what} in ${source}/${kind}/`, 'm'))
}

/** Every row of every table, as text in which bytes are hexadecimal. */
async function rowsOf(url: string): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    const rows = new Map<string, string>()
    for (const { name } of tables.rows) {
      const { rows: all } = await client.query<{ row: string }>(
        `select to_jsonb(t)::text as row from ${name} t`,
      )
      rows.set(name, all.map(({ row }) => row).join('\n'))
    }
    return rows
  } finally {
    await client.end()
  }
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`canaries on ${database}`, patience, () => {
    let folder: string
    let upstream: EchoingUpstream
    let secrets: CanarySecrets
    let control: Canary
    let contents: CanaryContents
    let bucket: Awaited<ReturnType<typeof servedBucket>> | undefined
    let played: PlayedScene
    let nats: NatsServer | undefined
    let tables = new Map<string, string>()
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-canary-'))
      secrets = newSecrets()
      control = newControl()
      contents = newContents()
      const issued = {
        for: secrets.oauthRefresh.secret,
        access: secrets.issuedAccess.secret,
        refresh: secrets.issuedRefresh.secret,
      }
      upstream = await echoingUpstream(issued, await registryOf(contents.build.secret))
      const scene = { folder, upstream, secrets, control, contents }
      if (database === 'sqlite') {
        played = await playScene({ ...scene, sources: {} })
        noteKeys(workspaceKeyRows(folder))
        return
      }
      const url = new URL(await newPostgresUrl())
      url.password = secrets.databasePassword.secret
      bucket = await servedBucket({ directory: join(folder, 'bucket'), isBelieving: true })
      nats = await natsServer({ password: secrets.busPassword.secret })
      const sources = {
        DATABASE_URL: url.href,
        BUS_URL: nats.url,
        STORE_BACKENDS: bucketOf(secrets, bucket.bucket),
      }
      played = await playScene({ ...scene, sources })
      tables = await rowsOf(url.href)
      noteKeys(tables.get('public.workspace_keys')?.split('\n') ?? [])
    }, patience)
    const noteKeys = (rows: string[]) =>
      played.canaries.push(...workspaceKeyCanaries(rows, secrets.rootSecret.secret))
    after(async () => {
      await upstream[Symbol.asyncDispose]()
      await bucket?.close()
      await nats?.kill()
      await rm(folder, { recursive: true, force: true })
    })

    it('reach the upstreams that they are for', () => {
      const all = upstream.whole.join('\n')
      const missing = Object.entries(secrets).flatMap(([key, each]) =>
        foundIn([each], '', all).length === 0 ? key : [],
      )
      assert.deepEqual(missing.toSorted(), kept.toSorted())
    })

    verifies(
      [
        'proxy/masked',
        'service/vaults/model-blind',
        'vaults/secrets-never-returned',
        'vaults/errors-silent',
        'secrets/model-keys-outside',
        'running/error/no-secret',
        'audit/no-secret',
      ],
      'are in no answer, no stream and no line of the log',
      () => {
        const hits = [...played.sources].flatMap(([source, text]) =>
          foundIn(played.canaries, source, text),
        )
        assert.deepEqual(hits, [])
      },
    )

    verifies(
      [
        'vaults/secrets-sealed',
        'secrets/vault-tokens',
        'command-secret/boundary',
        'secrets/subscription/not-archived',
      ],
      'are in no file: no database and its write-ahead log, no working folder, no blob, nothing of the egress',
      async () => {
        const { hits } = await foundInFolder(played.canaries, folder)
        for (const [table, rows] of tables) hits.push(...foundIn(played.canaries, table, rows))
        assert.deepEqual(hits, [])
      },
    )

    it('are not in the log of the server, and neither is the kept content', () => {
      const all = [...played.canaries, ...Object.values(contents)]
      assert.deepEqual(foundIn(all, 'the log', played.sources.get('the log') ?? ''), [])
    })

    it('would have been found wherever they might have been', async () => {
      const visible = [control, ...Object.values(contents)]
      const { hits, files } = await foundInFolder(visible, folder)
      const spoken = [...played.sources].flatMap(([source, text]) => foundIn(visible, source, text))
      for (const [table, rows] of tables) hits.push(...foundIn(visible, table, rows))
      const all = [...hits, ...spoken].join('\n')
      for (const source of [...(database === 'sqlite' ? inSqlite : inPostgres), ...elsewhere]) {
        assert.match(all, source)
      }
      assert.ok(files.some((path) => path.startsWith('egress/')))
      assert.ok(files.some((path) => path.endsWith('-two-encodings.body')))
      for (const part of [
        '/v1/ext/audit/export',
        '/v1/ext/audit/credential_uses',
        '/v1/ext/model_cards/',
        '/threads/',
        '/deliveries/',
      ]) {
        assert.ok(
          played.read.some((path) => path.includes(part)),
          played.read.join('\n'),
        )
      }
    })
  })
}
