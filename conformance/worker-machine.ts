/** A separate machine for a worker: a network namespace with one link to this machine. Tests can cut the link. */
import { execFile } from 'node:child_process'
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

/** The addresses are of 192.0.2.0/24, the block for documentation, so they reach no other host. */
export async function startWorkerMachine(): Promise<WorkerMachine> {
  const id = `${process.pid % 100_000}-${made++}`
  const [name, here, there] = [`stw${id}`, `sth${id}`, `stt${id}`]
  const block = 4 * ((process.pid + made) % 63)
  const [host, guest] = [`192.0.2.${block + 1}`, `192.0.2.${block + 2}`]
  const inside = ['ip', 'netns', 'exec', name] as const
  const tell = async (line: string) => {
    const [command = '', ...words] = line.split(' ')
    await run(command, words).catch((error: Error) => {
      throw new Error(`${remedy}: ${error.message}`)
    })
  }
  await tell('nft --version')
  await tell(`ip netns add ${name}`)
  const remove = () => tell(`ip netns delete ${name}`)
  try {
    await tell(`ip link add ${here} type veth peer name ${there} netns ${name}`)
    await tell(`ip address add ${host}/30 dev ${here}`)
    await tell(`ip link set ${here} up`)
    await tell(`ip -n ${name} address add ${guest}/30 dev ${there}`)
    await tell(`ip -n ${name} link set ${there} up`)
    await tell(`ip -n ${name} link set lo up`)
  } catch (error) {
    await remove()
    throw error
  }
  const drop = (hook: string) =>
    `chain ${hook} { type filter hook ${hook} priority 0; policy drop; }`
  return {
    ...{ by: inside, host },
    async cut() {
      const rules = `table inet cut {\n${drop('input')}\n${drop('output')}\n}`
      await run(inside[0], [...inside.slice(1), 'nft', rules])
    },
    mend: () => tell(`${inside.join(' ')} nft delete table inet cut`),
    [Symbol.asyncDispose]: remove,
  }
}
