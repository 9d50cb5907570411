import type { ShellResult } from '@steward/sandbox/sandbox.ts'

/** Bytes that a sandbox keeps of one output. [tools/bash/output-cut] */
const keptBytes = 100 * 1024

/** The output of a program, after a note when it was cut that names the file with the whole output. */
export function describeOutput({ output, bytes, spilled }: ShellResult): {
  text: string
  whole?: string
} {
  const whole = spilled === undefined ? {} : { whole: spilled }
  if (bytes <= keptBytes) return { text: output, ...whole }
  const where = spilled === undefined ? '' : `; the whole is in ${spilled}`
  const note = `[the last ${Buffer.byteLength(output)} of ${bytes} bytes${where}]\n`
  return { text: note + output, ...whole }
}
