/** The command `config`: the settings of the server as they are given. */
import { parseArgs } from 'node:util'
import { serverCommand } from '@steward/base/own-command.ts'
import {
  isConfigVerb,
  configVerbs,
  runConfigCommand,
} from '@steward/base/settings/config-command.ts'
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import { readConfig } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import { exitWithLines, printLine, refuseCommand } from './command-line.ts'

export const serverConfiguration = {
  program: serverProgram,
  command: `${serverCommand} config`,
  schema: 'settings.schema.json',
}

export async function configCommand(
  args: readonly string[],
  environment: ProcessVariables,
): Promise<void> {
  const options = { json: { type: 'boolean' as const, default: false } }
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const { json: isJson } = values
  const [verb, ...others] = positionals
  if (!isConfigVerb(verb)) refuseCommand(`config needs a verb: ${configVerbs.join(', ')}`)
  if (others.length > 0) refuseCommand(`config ${verb} takes no further words`)
  if (isJson && verb !== 'show') refuseCommand('--json belongs to config show')
  const answer = await runConfigCommand(
    {
      ...serverConfiguration,
      problemsOf({ variables, ...sources }) {
        const read = readConfig(variables, sources)
        return read.ok ? [] : read.problems
      },
    },
    { verb, isJson },
    environment,
  )
  if (answer.problems.length > 0) exitWithLines([...answer.problems])
  for (const line of answer.lines) printLine(line)
}
