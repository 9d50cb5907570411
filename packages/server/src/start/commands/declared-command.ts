/** Commands that are declared as data: their help and their arguments. */
import { parseArgs } from 'node:util'
import { parseProblem } from './command-line.ts'

export type DeclaredCommand = {
  name: string
  /** The names of the arguments, in order, as the help shows them. */
  takes: readonly string[]
  /** A sentence without its subject. */
  does: string
  /** Advice for a person who is about to run the command. */
  more: string
  /** `takes`: the name of the option's value. An option without it is a switch. */
  options?: Readonly<Record<string, { does: string; takes?: string }>>
}

const column = 41

/** The entry of a command in the help. */
export function usageLine({ name, takes, does, options = {} }: DeclaredCommand): string {
  const call = `  npm start -- ${[name, ...takes].join(' ')}`
  const more = Object.entries(options).map(
    ([option, { does: effect, takes: value }]) =>
      `--${option}${value === undefined ? '' : ` ${value}`}: ${effect}`,
  )
  const [first, ...rest] = [does, ...more].map((text) => text.trimEnd())
  const indent = ' '.repeat(column + 2)
  const head = call.length <= column ? call.padEnd(column + 2) : `${call}\n${indent}`
  return [head + first, ...rest.map((text) => indent + text)].join('\n')
}

type CommandArguments = { values: string[]; options: Record<string, string | boolean> }

/** `closing`: the last line of the command's own help. */
export function readArguments(
  command: DeclaredCommand,
  args: readonly string[],
  closing = '',
): CommandArguments | { help: string } | { wrong: string } {
  const usage = `${usageLine(command)}\n\n${[command.more, closing].filter(Boolean).join('\n')}\n`
  const wrong = (why: string) => ({ wrong: `${why}\n\n${usage}` })
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        ...Object.fromEntries(
          Object.entries(command.options ?? {}).map(([name, { takes }]) => [
            name,
            { type: takes === undefined ? ('boolean' as const) : ('string' as const) },
          ]),
        ),
      },
      allowPositionals: true,
    })
    const { help, ...options } = values
    if (help) return { help: usage }
    const missing = command.takes.slice(positionals.length)
    if (missing.length > 0) return wrong(`${command.name} needs ${missing.join(' and ')}`)
    if (positionals.length > command.takes.length)
      return wrong(`${command.name} takes no ${positionals.at(-1)}: quote a name with spaces`)
    return { values: positionals, options }
  } catch (error) {
    return wrong(parseProblem(error as Error))
  }
}
