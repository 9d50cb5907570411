import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Config } from './config.ts'
import { readConfig, readGivenConfig } from './config.ts'
import { listSettings } from '@steward/base/settings/setting.ts'
import { serverProgram } from './settings.ts'

const secret = { PLATFORM_ROOT_SECRET: '0123456789abcdef' }

function config(env: Record<string, string | undefined> = {}): Config {
  const read = readConfig({ ...secret, ...env })
  assert.ok(read.ok, read.ok ? '' : read.problems.join('\n'))
  return read.config
}

const day = 24 * 60 * 60 * 1000

function problems(env: Record<string, string | undefined>): string[] {
  const read = readConfig({ ...secret, ...env })
  return read.ok ? [] : read.problems
}

describe('the configuration', () => {
  it('needs a root secret and nothing else', () => {
    const { egressAllowPrivate, trustedProxies, shares, callerConnections, ...rest } = config()
    const { streams, connections, ...fixed } = shares
    assert.deepEqual(fixed, { percent: 80, turns: 1000, sandboxes: 1000 })
    assert.ok(streams >= 128 && streams <= 50_000 && connections >= 32 && connections <= 16_384)
    assert.ok(callerConnections > streams && callerConnections <= streams + 16_384)
    assert.ok(!egressAllowPrivate.check('127.0.0.1'))
    assert.ok(!trustedProxies.check('127.0.0.1'))
    assert.deepEqual(rest, {
      port: 8787,
      host: '127.0.0.1',
      dataDir: './data',
      sandboxDir: './data/sandboxes',
      rootSecret: secret.PLATFORM_ROOT_SECRET,
      previousRootSecret: undefined,
      rootSecretKeyService: undefined,
      secretManagers: undefined,
      repositoryBytes: 2048 * 1024 * 1024,
      repositoryHosts: [],
      allowed: { mcp_servers: [], models: [], webhooks: [], images: [] },
      retentionDays: { usual: {}, most: {} },
      rateLimits: undefined,
      apiKey: undefined,
      databaseUrl: undefined,
      databaseLimits: { connectMs: 10_000, statementMs: 15_000, heartbeatMs: 5_000 },
      tenantDatabases: { enabled: false, mostBytes: 10_240 * 2 ** 20, mostOpen: 64 },
      retention: { deletedMs: day, auditMs: 365 * day, usageMs: 400 * day },
      blobs: undefined,
      publishes: true,
      files: {
        largest: 500 * 1024 * 1024,
        workspace: 100 * 1024 * 1024 * 1024,
        uploadsDownloadable: true,
      },
      egressTenantTargets: [],
      egressProfile: 'required',
      outgoing: {
        httpsProxy: undefined,
        httpProxy: undefined,
        noProxy: [],
        resolves: false,
        authorities: undefined,
      },
      busUrl: undefined,
      peers: { host: undefined, port: 0, address: undefined },
      packages: {
        sources: {},
        buildMs: 15 * 60_000,
        largest: 4 * 1024 ** 3,
        keptMs: 14 * 24 * 60 * 60_000,
      },
      webSearch: { apiKey: undefined, baseUrl: 'https://api.tavily.com' },
      sandbox: 'bubblewrap',
      sandboxSocket: undefined,
      sandboxImage: 'docker.io/library/node:24-bookworm',
      sandboxImages: [],
      sandboxRoots: new Map(),
      sandboxIdleMs: 300_000,
      publicUrl: undefined,
      webhooks: { organization: undefined, hint: undefined },
      work: { idleMs: 120_000, unclaimedMs: 60_000 },
      workerInputs: [],
      checkpoints: {
        saving: 'stop',
        largest: 10 * 1024 ** 3,
        history: 10,
        keptMs: 90 * 24 * 60 * 60 * 1000,
      },
      disk: {
        session: { bytes: 10_737_418_240, files: 1_000_000 },
        floor: { bytes: 1_073_741_824, files: 10_000 },
      },
      sandboxLimits: 'available',
      sandboxUsers: 'available',
      sandboxMemory: 2048 * 1024 * 1024,
      sandboxProcesses: 512,
      sandboxCpus: 2,
      stopMs: 20_000,
      sessionSecret: undefined,
      oauthClients: {},
      agentIdentityIssuer: undefined,
      signInOnly: undefined,
      companyProviders: [],
      identityProviders: [],
      integrations: {
        publicUrl: undefined,
        internalSecret: undefined,
        serviceUrl: undefined,
        github: {
          appId: undefined,
          slug: undefined,
          privateKey: undefined,
          clientId: undefined,
          clientSecret: undefined,
          webhookSecret: undefined,
          url: 'https://github.com',
          apiUrl: 'https://api.github.com',
        },
        linear: {
          clientId: undefined,
          clientSecret: undefined,
          webhookSecret: undefined,
          url: 'https://linear.app',
          apiUrl: 'https://api.linear.app',
        },
        slack: {
          clientId: undefined,
          clientSecret: undefined,
          signingSecret: undefined,
          appToken: undefined,
          url: 'https://slack.com',
          apiUrl: 'https://slack.com/api',
        },
      },
      mail: { smtpUrl: undefined, from: undefined },
      metrics: { port: undefined, host: '127.0.0.1' },
      otlp: {
        endpoint: undefined,
        headers: undefined,
        tracesExporter: 'otlp',
        metricsExporter: 'none',
        metricsEveryMs: 60_000,
        logsExporter: 'none',
        metricsEndpoint: undefined,
        logsEndpoint: undefined,
        tracesEndpoint: undefined,
      },
      messagesApi: false,
      modelSessionIds: false,
      auditStream: undefined,
      traces: {
        sampler: 'parentbased_always_on',
        share: 1,
      },
      embeddingModel: 'none',
      offlineModel: true,
      prices: new Map(),
      offlineThinkMs: 250,
      modelProviders: [],
      cloudIdentityWorkspaces: [],
      modelAnswerMs: 3_600_000,
      modelSilenceMs: 300_000,
      logLevel: 'info',
      fallbackKeys: { anthropic: undefined, openai: undefined, google: undefined },
    })
    const nowhere = { DATA_DIR: '/nowhere' }
    const [missing, ...others] = problems({ ...nowhere, PLATFORM_ROOT_SECRET: undefined })
    assert.match(missing ?? '', /PLATFORM_ROOT_SECRET is missing.*openssl rand/)
    assert.deepEqual(others, [])
    assert.equal(problems({ ...nowhere, PLATFORM_ROOT_SECRET: '' }).length, 1)
    const [short] = problems({ PLATFORM_ROOT_SECRET: 'short' })
    assert.match(short ?? '', /PLATFORM_ROOT_SECRET.*16 or more characters/)
    assert.ok(!short?.includes('"short"'))
  })

  it('names the file of the root secret that ./try has kept', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-config-'))
    try {
      const file = join(folder, 'root-secret')
      await writeFile(file, 'a secret that stays in its file')
      const kept = { DATA_DIR: folder, PLATFORM_ROOT_SECRET: undefined }
      const line = `export PLATFORM_ROOT_SECRET=$(cat ${file})`
      const named = problems(kept)
      assert.equal(named.length, 1)
      assert.ok(named[0]?.includes(line), named[0])
      assert.doesNotMatch(named[0] ?? '', /openssl|stays in its file/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('names everything that is wrong at once', () => {
    const named = problems({
      PLATFORM_ROOT_SECRET: undefined,
      PORT: '65536',
      DATABASE_URL: 'mysql://x',
      EGRESS_ALLOW_PRIVATE: '10.0.0.0/',
      EGRESS_PROFILE: 'strict',
      WEB_SEARCH_BASE_URL: 'ftp://search',
      SANDBOX_PROVIDER: 'chroot',
      STEWARD_LOG_LEVEL: 'loud',
      STEWARD_UNKNOWN: 'x',
      INTEGRATIONS_PUBLIC_URL: 'true',
      ANTHROPIC_BASE_URL: 'file:///etc',
    })
    const names = [
      'PLATFORM_ROOT_SECRET',
      'PORT',
      'DATABASE_URL',
      'EGRESS_ALLOW_PRIVATE',
      'EGRESS_PROFILE',
      'WEB_SEARCH_BASE_URL',
      'SANDBOX_PROVIDER',
      'STEWARD_LOG_LEVEL',
      'STEWARD_UNKNOWN',
      'INTEGRATIONS_PUBLIC_URL',
      'ANTHROPIC_BASE_URL',
    ]
    assert.equal(named.length, names.length)
    for (const name of names) {
      assert.equal(named.filter((problem) => problem.startsWith(name)).length, 1, name)
    }
  })

  it('takes every setting there is', () => {
    const read = config({
      PORT: '0',
      HOST: '::',
      DATA_DIR: '/srv/data',
      SANDBOX_DIR: '/srv/boxes',
      API_KEY: 'free text',
      DATABASE_URL: 'postgresql://u:p@db/steward',
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
      EGRESS_PROFILE: 'best_effort',
      WEB_SEARCH_API_KEY: 't',
      WEB_SEARCH_BASE_URL: 'http://127.0.0.1:1',
      SANDBOX_PROVIDER: 'local',
      SANDBOX_IDLE_SECONDS: '1',
      SANDBOX_MEMORY_MB: '64',
      SANDBOX_PROCESSES: '16',
      SANDBOX_CPUS: '0.5',
      RUNNER_SESSIONS: '1',
      RUNNER_STOP_SECONDS: '0',
      WORKSPACE_SHARE: '100',
      SANDBOX_COUNT: '2',
      STREAM_COUNT: '3',
      EGRESS_CONNECTIONS: '4',
      STEWARD_OFFLINE_MODEL: 'false',
      MODEL_ANSWER_MINUTES: '2',
      MODEL_SILENCE_SECONDS: '900',
      STEWARD_LOG_LEVEL: 'debug',
      ANTHROPIC_API_KEY: 'sk-a',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
      GEMINI_API_KEY: 'g',
      GEMINI_BASE_URL: 'https://example.com',
    })
    assert.ok(read.egressAllowPrivate.check('127.9.9.9'))
    assert.equal(read.port, 0)
    assert.equal(read.apiKey, 'free text')
    assert.equal(read.egressProfile, 'best_effort')
    assert.deepEqual(read.webSearch, { apiKey: 't', baseUrl: 'http://127.0.0.1:1' })
    assert.equal(read.sandboxIdleMs, 1000)
    assert.equal(read.sandboxMemory, 64 * 1024 * 1024)
    assert.equal(read.sandboxCpus, 0.5)
    assert.deepEqual(read.shares, {
      ...{ percent: 100, turns: 1, sandboxes: 2 },
      ...{ streams: 3, connections: 4 },
    })
    assert.equal(read.stopMs, 0)
    assert.equal(read.offlineModel, false)
    assert.equal(read.modelAnswerMs, 120_000)
    assert.equal(read.modelSilenceMs, 900_000)
    assert.equal(read.logLevel, 'debug')
    assert.deepEqual(read.fallbackKeys, {
      anthropic: { apiKey: 'sk-a', baseUrl: undefined },
      openai: { apiKey: 'none', baseUrl: 'http://127.0.0.1:1/v1' },
      google: { apiKey: 'g', baseUrl: 'https://example.com' },
    })
  })

  it('refuses numbers out of range, in another form, or in parts of a whole', () => {
    const wrong = {
      PORT: ['-1', '65536', '80.5', 'http', '0x50', '1e3', ' ', '8787 '],
      SANDBOX_IDLE_SECONDS: ['0', '86401', 'Infinity', 'NaN'],
      SANDBOX_MEMORY_MB: ['63', '-64', '64MB'],
      SANDBOX_PROCESSES: ['15', '16.5'],
      SANDBOX_CPUS: ['0', '0.01', 'two'],
      RUNNER_SESSIONS: ['0', '1.5'],
      RUNNER_STOP_SECONDS: ['-1', '3601'],
      MODEL_ANSWER_MINUTES: ['0', '1441', '1.5'],
      MODEL_SILENCE_SECONDS: ['0', '3601'],
      WORKSPACE_SHARE: ['0', '101', '80%'],
      SANDBOX_COUNT: ['0'],
      STREAM_COUNT: ['0', '1e3'],
      EGRESS_CONNECTIONS: ['0', 'many'],
    }
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const [problem, ...others] = problems({ [name]: value })
        assert.ok(
          problem?.startsWith(`${name}: ${JSON.stringify(value)} is not `),
          `${name}=${value}`,
        )
        assert.deepEqual(others, [])
      }
    }
  })

  it('refuses unknown names with our prefixes, and ignores the rest of the environment', () => {
    for (const name of ['STEWARD_PORT', 'PLATFORM_X', 'EGRESS_DENY', 'SANDBOX_X', 'RUNNER_X']) {
      assert.match(problems({ [name]: '1' }).join(), new RegExp(`^${name} is not a setting`))
    }
    const others = { PATH: '/bin', HOME: '/root', NODE_ENV: 'test', SSH_AUTH_SOCK: 'x' }
    assert.deepEqual(problems({ ...others, STEWARD_EMPTY: '' }), [])
  })

  it('takes a NATS server beside Postgres, and shows nothing of a URL that it refuses', () => {
    const [database, url] = ['postgres://db.internal/steward', 'nats://name:password@nats.internal']
    assert.equal(config({ DATABASE_URL: database, BUS_URL: url }).busUrl, url)
    assert.match(problems({ BUS_URL: url }).join(), /^BUS_URL needs DATABASE_URL/)
    const unfit = ['http://name:password@nats.internal', 'nats:password', 'nats://n:%password@nats']
    for (const given of unfit) {
      const refused = problems({ DATABASE_URL: database, BUS_URL: given }).join()
      assert.match(refused, /^BUS_URL: .* is not a nats:\/\/ or tls:\/\/ URL$/)
      assert.doesNotMatch(refused, /password/)
    }
  })

  it('accepts the address that other processes connect to, with its port or without', () => {
    for (const address of [
      '10.0.0.7',
      '10.0.0.7:9000',
      'one.internal',
      '[fd00::7]',
      '[fd00::7]:9000',
    ])
      assert.equal(config({ PEER_ADDRESS: address }).peers.address, address)
    for (const address of ['fd00::7', 'one.internal:70000', 'http://one.internal', 'a b'])
      assert.match(problems({ PEER_ADDRESS: address }).join(), /^PEER_ADDRESS/)
  })

  it('signs hints of work, or sends none', () => {
    const url = 'PLATFORM_MANAGED_AGENTS_WEBHOOK_URL'
    const key = 'PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY'
    const bytes = Buffer.alloc(32, 1).toString('base64')
    const where = 'https://launcher.example/hook'
    for (const text of [bytes, `whsec_${bytes}`]) {
      const { hint } = config({ [url]: where, [key]: text }).webhooks
      assert.deepEqual(hint, { url: where, secret: text })
    }
    assert.match(problems({ [url]: where }).join(), /go together/)
    assert.match(problems({ [key]: bytes }).join(), /go together/)
    const short = problems({ [url]: where, [key]: 'whsec_aHVudGVyMg==' }).join()
    assert.match(short, /24 to 64 bytes/)
    assert.ok(!short.includes('aHVudGVyMg'))
    assert.match(problems({ [url]: 'ftp://x', [key]: bytes }).join(), /an http or https URL/)
  })

  it('is read from files, and asks for nothing that an unreadable file may hold', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-config-'))
    try {
      const path = join(folder, 'steward.yaml')
      const env = { SETTINGS_FILE: path, BUS_URL: 'nats://nats.internal' }
      await writeFile(
        path,
        'platform_root_secret: 0123456789abcdef\ndatabase_url: postgres://db.internal/steward\nmodel_prices: { a: { input: 1, output: 2 } }\n',
      )
      const read = await readGivenConfig(env)
      assert.ok(read.ok, read.ok ? '' : read.problems.join())
      assert.equal(read.config.databaseUrl, 'postgres://db.internal/steward')
      assert.ok(read.config.prices.has('a'))
      await writeFile(path, 'model_prices: { a: 1 }\nplatform_root_secret: 0123456789abcdef\n')
      const wrong = await readGivenConfig(env)
      assert.deepEqual(
        wrong.ok ? [] : wrong.problems.map((problem) => problem.split(' ').slice(0, 2)),
        [
          [`${path}:1:`, 'MODEL_PRICES:'],
          ['BUS_URL', 'needs'],
        ],
      )
      await writeFile(path, 'database_url: "postgres')
      const unread = await readGivenConfig(env)
      assert.deepEqual(unread.ok ? [] : unread.problems.length, 1)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('counts an empty value as absent', () => {
    const empty = Object.fromEntries(
      listSettings(serverProgram.settings).map(({ name }) => [name, '']),
    )
    assert.deepEqual(
      { ...config({ ...empty, ...secret }), egressAllowPrivate: 0 },
      { ...config(), egressAllowPrivate: 0 },
    )
  })

  it('shows no secret in what it complains about', () => {
    const url = 'mysql://user:hunter2@db/x'
    const text = problems({
      DATABASE_URL: url,
      OPENAI_BASE_URL: 'ftp://hunter2@x',
      PACKAGE_REGISTRIES: 'npm=https://user:hunter2@npm.example/',
      REPOSITORY_HOSTS: 'https://hunter2@git.example',
    }).join()
    assert.ok(text.includes('DATABASE_URL') && !text.includes('hunter2'))
  })

  it('reads lists of what workspaces may name, and days by kind, and names the part that is wrong', () => {
    const { allowed, retentionDays } = config({
      ALLOWED_MODELS: 'offline, anthropic/claude-*',
      ALLOWED_MCP_SERVERS: '*.example.com,stdio:files',
      RETENTION_DAYS: 'sessions:90, files:30',
      RETENTION_MAX_DAYS: 'sessions:365',
    })
    assert.deepEqual(allowed.models, ['offline', 'anthropic/claude-*'])
    assert.deepEqual(allowed.mcp_servers, ['*.example.com', 'stdio:files'])
    assert.deepEqual(retentionDays, { usual: { sessions: 90, files: 30 }, most: { sessions: 365 } })
    const wrong: [string, string, RegExp][] = [
      ['ALLOWED_WEBHOOKS', 'hooks.example/path', /"hooks\.example\/path" must be a host/],
      [
        'ALLOWED_WEBHOOKS',
        'https://x.example/*',
        /"https:\/\/x\.example\/\*" has a \* in its path/,
      ],
      ['RETENTION_DAYS', 'session:90', /"session:90" is not kind:days; the kinds are sessions, /],
      ['RETENTION_DAYS', 'files:0', /"files:0": keep for 1 to 36500 days/],
      ['RETENTION_MAX_DAYS', 'files:1,files:2', /files is named twice/],
    ]
    for (const [name, value, why] of wrong) {
      const read = readConfig({ ...secret, [name]: value })
      assert.match(read.ok ? '' : read.problems.join(), why)
    }
  })
})
