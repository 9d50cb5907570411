/** The command line: starts the server, or does what an operator asks for once. */
import { enableCompileCache } from 'node:module'
import { parseArgs } from 'node:util'
import type { Config } from './ground/config/config.ts'
import { readConfig } from './ground/config/config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { helpOf } from '@steward/base/settings/program.ts'
import { returnMemoryAtRest } from './ground/core/rest.ts'
import { server } from './ground/config/settings.ts'
import { roles } from './ground/http/principal.ts'
import { baseOf } from './ground/config/base.ts'
import type * as Invite from './tenants/members/operator.ts'
import type * as Create from './tenants/workspaces/create.ts'

enableCompileCache()

const usage = `Steward: a self-hosted, multi-tenant service for running AI agents.

  npm start                                start the server
  npm start -- create-workspace <name>     make a workspace and print its first key, once
  npm start -- create-key <workspace>      print a new key of a workspace, named by its id or name, once;
                                           --admin: a workspace-admin key · --name: how the key is listed
  npm start -- create-invitation <workspace>
                                           print a link by which a person joins a workspace, once;
                                           --role: viewer, member, admin or owner (the default) · --email: for this address alone
  npm start -- set-limit <workspace> <limit> <value>
                                           allow a workspace other limits than the server's, such as writes 120/m;
                                           the value default: those of the server again
  npm start -- rotate-root-secret          seal everything anew under PLATFORM_ROOT_SECRET
  npm start -- doctor                      say whether the server could do its work here, and what to do where not;
                                           changes nothing
  npm start -- --help                      this text

Settings, from the environment:
${helpOf(server)}

Workspaces, keys and sandboxes are explained in docs/operations.md.
`

function fail(lines: string[]): never {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}

function configuration(): Config {
  const read = readConfig(process.env)
  if (read.ok) return read.config
  return fail(['Steward does not start:', ...read.problems.map((problem) => `  ${problem}`)])
}

/** For what starts sandboxes. */
async function configurationAmongOwnUsers(): Promise<Config> {
  const config = configuration()
  if (config.sandbox === 'bubblewrap' && config.sandboxUsers !== 'shared') {
    const { enterOwnUsers } = await import('@steward/sandbox/own-users.ts')
    enterOwnUsers()
  }
  return config
}

async function serve(): Promise<void> {
  const config = await configurationAmongOwnUsers()
  const log = jsonLog((line) => process.stderr.write(line), config.logLevel)
  const { start } = await import('./start/start.ts')
  const running = await start(config, log)
  returnMemoryAtRest((error) => log.warn('memory could not be returned at rest', { error }))
  log.info('listening', { url: `http://${config.host}:${running.port}` })
  let stopping = false
  const stop = (signal: string) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info('stopping', { signal })
    running.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('the server did not stop cleanly', { error })
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

type Rooms = typeof Create & typeof Invite

/** Beside running servers. */
async function makeInWorkspaces(
  make: (
    rooms: Rooms,
    deps: Parameters<typeof Create.createKey>[0],
    config: Config,
  ) => Promise<object>,
): Promise<void> {
  const config = configuration()
  const { openDatabase } = await import('./start/storage.ts')
  const { oneDatabase } = await import('./ground/database/database.ts')
  const { systemClock } = await import('@steward/base/time.ts')
  const rooms: Rooms = {
    ...(await import('./tenants/workspaces/create.ts')),
    ...(await import('./tenants/members/operator.ts')),
  }
  const database = await openDatabase(config, { alone: false })
  try {
    const made = await make(rooms, { databases: oneDatabase(database), clock: systemClock }, config)
    process.stdout.write(`${JSON.stringify(made, null, 2)}\n`)
  } finally {
    await database.close()
  }
}

async function createWorkspaceCommand(name: string | undefined): Promise<void> {
  if (!name) fail(['create-workspace needs a name'])
  await makeInWorkspaces(({ createWorkspace }, deps) => createWorkspace(deps, name))
}

async function createKeyCommand(
  workspace: string | undefined,
  { admin = false, name = 'made by the operator' }: { admin?: boolean; name?: string },
): Promise<void> {
  if (!workspace) fail(['create-key needs a workspace: its id or its name'])
  if (name.length < 1 || name.length > 256) fail(['--name must have 1 to 256 characters'])
  await makeInWorkspaces(({ createKey }, deps) => createKey(deps, workspace, { admin, name }))
}

async function createInvitationCommand(
  workspace: string | undefined,
  { role = 'owner', email }: { role?: string; email?: string },
): Promise<void> {
  if (!workspace) fail(['create-invitation needs a workspace: its id or its name'])
  const wanted = roles.find((each) => each === role)
  if (!wanted) fail([`--role must be one of ${roles.join(', ')}`])
  await makeInWorkspaces(({ inviteByOperator }, deps, config) =>
    inviteByOperator(deps, { workspace, role: wanted, email, base: baseOf(config, config.port) }),
  )
}

async function setLimitCommand([workspace, name, value]: string[]): Promise<void> {
  if (!workspace || !name || !value)
    fail([
      'set-limit needs a workspace, a limit and its value, such as: set-limit acme writes 120/m',
    ])
  const { setLimit } = await import('./tenants/limits/set.ts')
  await makeInWorkspaces((_, deps) => setLimit(deps, { workspace, name, value }))
}

/** Beside running servers; run again it goes on where it was. */
async function rotateRootSecretCommand(): Promise<void> {
  const config = configuration()
  const { openDatabase, sealOf } = await import('./start/storage.ts')
  const { checkRootKey } = await import('./ground/database/root-key.ts')
  const { rotateRootSecret } = await import('./start/root-secret/rotate.ts')
  const database = await openDatabase(config, { alone: false })
  try {
    const seal = sealOf(config)
    await checkRootKey(database, seal)
    const rows = await rotateRootSecret(database, seal, ({ column, done }) =>
      process.stdout.write(`${column}: ${done} sealed anew\n`),
    )
    process.stdout.write(
      `${rows} rows sealed anew; everything is sealed under root key ${seal.keyId} now, and PLATFORM_ROOT_SECRET_PREVIOUS can go\n`,
    )
  } finally {
    await database.close()
  }
}

const marks = { ok: '✓', warning: '!', failed: '✗' }

/** Beside running servers. Exits with 1 where something failed. */
async function doctor(): Promise<void> {
  const config = await configurationAmongOwnUsers()
  const { examine } = await import('./start/doctor.ts')
  const isSound = await examine(config, (finding) => {
    process.stdout.write(`${marks[finding.state]} ${finding.about}\n`)
    if (finding.state !== 'ok') process.stdout.write(`    to mend it: ${finding.mending}\n`)
  })
  process.exit(isSound ? 0 : 1)
}

/** Each option belongs to one command. */
function checkOptions(command: string | undefined, owners: Record<string, object>): void {
  for (const [owner, given] of Object.entries(owners)) {
    const [option] = Object.keys(given)
    if (option && command !== owner) fail([`--${option} belongs to ${owner}`])
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      admin: { type: 'boolean' },
      name: { type: 'string' },
      role: { type: 'string' },
      email: { type: 'string' },
    },
    allowPositionals: true,
  })
  const { help, role, email, ...ofKeys } = values
  const ofInvitations = { ...(role && { role }), ...(email && { email }) }
  if (help) {
    process.stdout.write(usage)
    return
  }
  const [command, ...rest] = positionals
  checkOptions(command, { 'create-key': ofKeys, 'create-invitation': ofInvitations })
  if (command === 'create-key') return createKeyCommand(rest[0], ofKeys)
  if (command === 'create-invitation') return createInvitationCommand(rest[0], ofInvitations)
  if (command === undefined) return serve()
  if (command === 'doctor') return doctor()
  if (command === 'create-workspace') return createWorkspaceCommand(rest[0])
  if (command === 'set-limit') return setLimitCommand(rest)
  if (command === 'rotate-root-secret') return rotateRootSecretCommand()
  fail([`${command} is not a command`, usage])
}

main().catch((error: unknown) => {
  const { message, cause } = error as Error
  fail([
    `Steward stopped: ${message}`,
    ...(cause instanceof Error ? [`  because ${cause.message}`] : []),
  ])
})
