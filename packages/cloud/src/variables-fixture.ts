/** For tests: variables of this process, put back afterwards. */
import { env } from 'node:process'

export function changedVariables() {
  const before = new Map<string, string | undefined>()
  return {
    set(name: string, value: string | undefined) {
      if (!before.has(name)) before.set(name, env[name])
      if (value === undefined) delete env[name]
      else env[name] = value
    },
    restore() {
      for (const [name, value] of before) {
        if (value === undefined) delete env[name]
        else env[name] = value
      }
      before.clear()
    },
  }
}
