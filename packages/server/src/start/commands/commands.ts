/**
 * Commands of the operator about workspaces, members and keys. The commands work beside running servers, and the help
 * is made from this list.
 */
import type * as Rooms from './administration.ts'
import type { DeclaredCommand } from './declared-command.ts'
import { readArguments, usageLine } from './declared-command.ts'

/** The input of a command: its positional arguments and its options. */
type CommandInput = { values: string[]; revokesKeys: boolean }

type AdministrationCommand = DeclaredCommand & {
  run: (rooms: typeof Rooms, deps: Rooms.AdministrationDeps, given: CommandInput) => Promise<object>
}

const revokeKeys = {
  'revoke-keys': { does: 'revoke the keys that the person has made, which the answer lists' },
}
const named = 'A workspace is named by its id or its name.'

const commands: readonly AdministrationCommand[] = [
  {
    name: 'list-workspaces',
    takes: [],
    does: 'list all workspaces, archived ones too',
    more: 'Each has its id, its name, its times, and how many members and valid keys it has.',
    run: ({ listWorkspaces }, deps) => listWorkspaces(deps),
  },
  {
    name: 'rename-workspace',
    takes: ['<workspace>', '<name>'],
    does: 'give a workspace another name',
    more: named,
    run: ({ renameWorkspace }, deps, { values: [workspace = '', name = ''] }) =>
      renameWorkspace(deps, workspace, name),
  },
  {
    name: 'archive-workspace',
    takes: ['<workspace>'],
    does: 'close a workspace: all its keys are revoked, and its members reach it no more',
    more: `${named} Turns that run come to their end, and nothing is removed.`,
    run: ({ archiveWorkspace }, deps, { values: [workspace = ''] }) =>
      archiveWorkspace(deps, workspace),
  },
  {
    name: 'unarchive-workspace',
    takes: ['<workspace>'],
    does: 'open an archived workspace to its members again',
    more: `${named} Its keys stay revoked: make new ones by create-key.`,
    run: ({ unarchiveWorkspace }, deps, { values: [workspace = ''] }) =>
      unarchiveWorkspace(deps, workspace),
  },
  {
    name: 'delete-workspace',
    takes: ['<workspace>'],
    does: 'delete an archived workspace, with everything in it',
    more: `${named} Archive it first. Running servers, or the next that starts, remove its sessions, files, memory, secrets, keys and usage. Nothing brings them back but a backup, and the secrets nothing but a backup with the key of the workspace.`,
    run: ({ removeWorkspace }, deps, { values: [workspace = ''] }) =>
      removeWorkspace(deps, workspace),
  },
  {
    name: 'list-members',
    takes: ['<workspace>'],
    does: 'list the people of a workspace, with their roles',
    more: named,
    run: ({ listMembers }, deps, { values: [workspace = ''] }) => listMembers(deps, workspace),
  },
  {
    name: 'remove-member',
    takes: ['<workspace>', '<email>'],
    does: 'remove a person from a workspace',
    more: `${named} What the person has made stays. Keys that the person has made open the workspace until they are revoked: the answer lists them.`,
    options: revokeKeys,
    run: ({ removeMemberByEmail }, deps, { values: [workspace = '', email = ''], ...options }) =>
      removeMemberByEmail(deps, { workspace, email, ...options }),
  },
  {
    name: 'delete-person',
    takes: ['<email>'],
    does: 'delete the account of a person, and the name from what the person has made',
    more: 'In place of the email the id of the person may stand. Sign-ins, memberships and links to identity providers end. What the person has made stays; a running server, or the next that starts, takes the name out of it. A hold on the person is refused, and so is the last owner of a workspace: invite another owner by create-invitation, or archive and delete the workspace.',
    options: revokeKeys,
    run: ({ deletePersonByEmail }, deps, { values: [email = ''], ...options }) =>
      deletePersonByEmail(deps, { email, ...options }),
  },
  {
    name: 'list-keys',
    takes: ['<workspace>'],
    does: 'list the valid keys of a workspace, without their values',
    more: named,
    run: ({ listKeys }, deps, { values: [workspace = ''] }) => listKeys(deps, workspace),
  },
  {
    name: 'emergency-key',
    takes: ['<workspace>'],
    does: 'print a workspace-admin key that is valid for an hour, once, for when nobody can sign in',
    more: `${named} The audit of the workspace has a line of it. It opens the API, and the console at /console/key.`,
    run: ({ makeEmergencyKey }, deps, { values: [workspace = ''] }) =>
      makeEmergencyKey(deps, workspace),
  },
  {
    name: 'revoke-key',
    takes: ['<key id>'],
    does: 'revoke a key by its id, which list-keys shows',
    more: 'Running servers refuse the key within a second. The last admin key of a workspace can be revoked too: create-key makes another.',
    run: ({ revokeKeyById }, deps, { values: [key = ''] }) => revokeKeyById(deps, key),
  },
  {
    name: 'list-holds',
    takes: ['<workspace>'],
    does: 'list the holds of a workspace that are in force',
    more: named,
    run: ({ listHolds }, deps, { values: [workspace = ''] }) => listHolds(deps, workspace),
  },
  {
    name: 'create-hold',
    takes: ['<workspace>', '<all, session or person>', '<reason>'],
    does: 'keep what a workspace has, a session, or what a person made, from every removal',
    more: `${named} all keeps the whole workspace; an id keeps one session, or the sessions and the account of a person. The operator alone releases this hold.`,
    run: ({ createHold }, deps, { values: [workspace = '', kept = '', reason = ''] }) =>
      createHold(deps, { workspace, kept, reason }),
  },
  {
    name: 'release-hold',
    takes: ['<workspace>', '<hold id>'],
    does: 'release a hold: what it has kept can go from now on',
    more: `${named} Releases holds of the workspace too, also of an archived one.`,
    run: ({ releaseHoldById }, deps, { values: [workspace = '', hold = ''] }) =>
      releaseHoldById(deps, { workspace, hold }),
  },
  {
    name: 'make-github-app',
    takes: ['<public URL>'],
    does: 'make the GitHub app of this service in a browser, and print its settings, once',
    more: 'It names a page on this machine, which sends what the app needs to GitHub. The public URL is where GitHub reaches the service. Start the server with the settings that it prints.',
    run: ({ registerGithubApp }, deps, { values: [url = ''] }) => registerGithubApp(deps, url),
  },
]

export const administrationNames: readonly string[] = commands.map(({ name }) => name)

/** The help of all commands, one entry each. */
export const administrationUsage = (): string => commands.map(usageLine).join('\n')

export type CommandLine =
  | { help: string }
  | { wrong: string }
  | { run: (rooms: typeof Rooms, deps: Rooms.AdministrationDeps) => Promise<object> }

/** Returns undefined when the arguments name none of these commands. */
export function administrationCommand(args: readonly string[]): CommandLine | undefined {
  const command = commands.find(({ name }) => name === args[0])
  if (!command) return undefined
  const read = readArguments(command, args.slice(1), beside)
  if (!('values' in read)) return read
  const given = { values: read.values, revokesKeys: 'revoke-keys' in read.options }
  return { run: (rooms, deps) => command.run(rooms, deps, given) }
}

const beside = 'It prints JSON, and works beside running servers, with their settings.'
