/** A separate machine for a worker: a network namespace with one link to this machine. Tests can cut the link. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type WorkerMachine = AsyncDisposable & {
  /** Words before a command that run it in the namespace. */
  by: readonly [string, ...string[]]
  /** Address of this machine in the namespace. */
  host: string
  /** Drops all packets in both directions without an answer. */
  cut(): Promise<void>
  mend(): Promise<void>
}

const remedy =
  'this test cuts the network between a worker and the service: run it as root, with `apt-get install iproute2 nftables`'
let made = 0

async function tell(line: string): Promise<string> {
  const [command = '', ...words] = line.split(' ')
  try {
    return (await run(command, words)).stdout
  } catch (error) {
    throw new Error(`${remedy}: ${(error as Error).message}`, { cause: error })
  }
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

/** Removes the namespaces of test processes that were killed: their links would take packets of new ones. */
async function removeLeftNamespaces(): Promise<void> {
  for (const [name, pid] of (await tell('ip netns list')).matchAll(/^stw(\d+)-\d+/gm))
    if (!isAlive(Number(pid)))
      await tell(`ip netns delete ${name}`).catch((error: Error) => {
        // Another test process has removed it.
        if (!/No such file/.test(error.message)) throw error
      })
}

/**
 * Adds a link between this machine and the namespace. The number of a link gives its addresses, and no other link of
 * this machine has the number. The addresses are of 203.0.113.0/24, a block for documentation, so they reach no other
 * host.
 */
async function addLink(name: string) {
  const isTaken = (error: unknown) => /File exists/.test((error as Error).message)
  for (let number = 0; number < 64; number++)
    try {
      const [here, there] = [`sth${number}`, `stt${number}`]
      await tell(`ip link add ${here} type veth peer name ${there} netns ${name}`)
      const [host, guest] = [`203.0.113.${4 * number + 1}`, `203.0.113.${4 * number + 2}`]
      return { here, there, host, guest }
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  throw new Error('64 tests cut the network of a worker: look at `ip netns list`')
}

export async function startWorkerMachine(): Promise<WorkerMachine> {
  const name = `stw${process.pid}-${made++}`
  await tell('nft --version')
  await removeLeftNamespaces()
  await tell(`ip netns add ${name}`)
  await using started = new AsyncDisposableStack()
  started.defer(async () => void (await tell(`ip netns delete ${name}`)))
  const { here, there, host, guest } = await addLink(name)
  await tell(`ip address add ${host}/30 dev ${here}`)
  await tell(`ip link set ${here} up`)
  await tell(`ip -n ${name} address add ${guest}/30 dev ${there}`)
  await tell(`ip -n ${name} link set ${there} up`)
  await tell(`ip -n ${name} link set lo up`)
  const inside = ['ip', 'netns', 'exec', name] as const
  const machine = started.move()
  const drop = (hook: string) =>
    `chain ${hook} { type filter hook ${hook} priority 0; policy drop; }`
  return {
    ...{ by: inside, host },
    async cut() {
      const rules = `table inet cut {\n${drop('input')}\n${drop('output')}\n}`
      await run(inside[0], [...inside.slice(1), 'nft', rules])
    },
    mend: async () => void (await tell(`${inside.join(' ')} nft delete table inet cut`)),
    [Symbol.asyncDispose]: () => machine.disposeAsync(),
  }
}
