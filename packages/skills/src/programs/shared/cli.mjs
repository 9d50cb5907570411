/** Commands of a script: `node x.mjs <command> …`, `--help` for all of them. */
import { parseArgs } from 'node:util'

/** What is the caller's to mend: told in one line, without a stack. */
export class Refused extends Error {}

/**
 * `commands`: by name, with `usage` (what follows the name), `about`, `options` (as parseArgs takes them) and
 * `run(positionals, options)`, which returns what is printed: a text, or a value to print as JSON.
 */
export async function runCommands(program, commands, args = process.argv.slice(2)) {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help')
    return print(helpOf(program, commands))
  try {
    if (!Object.hasOwn(commands, name))
      throw new Refused(`no command ${name}; there are: ${Object.keys(commands).join(', ')}`)
    const command = commands[name]
    if (rest.includes('--help')) return print(usageOf(program, name, command))
    const parsed = parse(command, rest, `usage: ${program} ${name} ${command.usage}`)
    print(await command.run(parsed.positionals, parsed.values))
  } catch (error) {
    process.stderr.write(`${program}: ${error instanceof Refused ? error.message : error.stack}\n`)
    process.exitCode = 1
  }
}

function parse({ options = {}, least = 1, most = Infinity }, args, usage) {
  let parsed
  try {
    parsed = parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (cause) {
    throw new Refused(`${cause.message}\n${usage}`)
  }
  const { length } = parsed.positionals
  if (length < least || length > most) throw new Refused(usage)
  return parsed
}

const usageOf = (program, name, { usage, about }) => `${program} ${name} ${usage}\n    ${about}`

const helpOf = (program, commands) =>
  Object.entries(commands)
    .map(([name, command]) => usageOf(program, name, command))
    .join('\n')

function print(result) {
  if (result === undefined) return
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}
