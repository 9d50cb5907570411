/** Commands that set up where the service runs. Each loads its modules when it runs. */
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import { exitWithLines, printLine, readSettingsOrExit, refuseCommand } from './command-line.ts'
import type { DeclaredCommand } from './declared-command.ts'
import { readArguments, usageLine } from './declared-command.ts'

type DeploymentInput = {
  values: string[]
  options: Record<string, string | boolean>
  variables: ProcessVariables
}
type DeploymentCommand = DeclaredCommand & { run: (given: DeploymentInput) => Promise<void> }

const commands: readonly DeploymentCommand[] = [
  {
    name: 'init',
    takes: [],
    does: 'write a folder from which docker compose starts the service, with secrets of its own',
    more: 'It overwrites nothing, and prints no secret. Run it again to add what is missing. See docs/compose.md.',
    options: {
      domain: { takes: '<host>', does: 'where people reach the service; localhost for a trial' },
      folder: { takes: '<path>', does: 'the folder to write, ./steward without it' },
      nats: { does: 'let live words go over NATS, for several servers' },
      upgrade: { does: 'replace compose.yaml and seccomp.json by those of this version' },
      print: { does: 'say what it would do, and do nothing' },
    },
    async run({ options }) {
      const { initCompose } = await import('./init/init.ts')
      await initCompose(options)
    },
  },
  {
    name: 'install-service',
    takes: [],
    does: 'make the account, the folders, the settings and the systemd unit of a server, as root',
    more: 'It overwrites nothing, and prints no secret. A second run changes nothing. See docs/production.md.',
    options: {
      url: { takes: '<url>', does: 'where people reach the service, for new settings' },
      force: { does: 'replace a unit that is another one than this version has' },
      root: { takes: '<folder>', does: 'write the files below a folder, and make no account' },
      print: { does: 'show what it would do, and the unit; change nothing' },
    },
    async run({ options }) {
      const { installService } = await import('./install-service/install-service.ts')
      await installService(options)
    },
  },
  {
    name: 'create-bucket',
    takes: [],
    does: 'make the bucket that STORE_BACKENDS names, unless it is there',
    more: 'It needs the settings of the server.',
    async run() {
      const { createBucketOf } = await import('./create-bucket.ts')
      const { name, isNew } = await createBucketOf(await readSettingsOrExit())
      printLine(isNew ? `made the bucket ${name}` : `the bucket ${name} is there already`)
    },
  },
  {
    name: 'first-agent',
    takes: ['<url>'],
    does: 'make an environment and an agent in a workspace that has none',
    more: 'The URL is where a server answers, and API_KEY the key of the workspace. MODEL names the model of the agent.',
    async run({ values: [url = ''], variables }) {
      const { apiKey } = await readSettingsOrExit()
      if (apiKey === undefined) refuseCommand('first-agent needs API_KEY, the key of the workspace')
      const { makeFirstAgent } = await import('./first-agent.ts')
      await makeFirstAgent({ base: url.replace(/\/$/, ''), apiKey, environment: variables })
    },
  },
]

export const deploymentNames: readonly string[] = commands.map(({ name }) => name)

/** The help of all commands, one entry each. */
export const deploymentUsage = (): string => commands.map(usageLine).join('\n')

/** Returns undefined when the arguments name none of these commands. */
export function deploymentCommand(
  args: readonly string[],
  variables: ProcessVariables,
): (() => Promise<void>) | undefined {
  const command = commands.find(({ name }) => name === args[0])
  if (!command) return undefined
  const read = readArguments(command, args.slice(1))
  if ('wrong' in read) return () => exitWithLines([`steward: ${read.wrong}`], 2)
  if ('help' in read) return async () => void process.stdout.write(read.help)
  return () => command.run({ ...read, variables })
}
