import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { Agent, Dispatcher } from 'undici'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import type { ResolvedAddress } from './dial.ts'
import {
  asOperator,
  guardedAgent,
  guardedDispatcher,
  operatorGuard,
  parseRanges,
  parseTargets,
  RefusedAddressError,
  tenantGuard,
} from './dial.ts'

/** Checks an address with a fixed host and port. */
const addressGuard = (ranges: ReturnType<typeof parseRanges>) => {
  const guard = operatorGuard(ranges)
  return (address: string) => guard.may({ host: 'a.example', port: 443, address })
}
const none = parseRanges('')

describe('an address guard', () => {
  const may = addressGuard(none)

  it('lets public addresses pass', () => {
    for (const address of [
      '8.8.8.8',
      '168.63.129.17',
      '172.32.0.1',
      '100.128.0.1',
      '2606:4700::1111',
    ]) {
      assert.ok(may(address), address)
    }
  })

  it('refuses private, loopback, link-local, shared and metadata addresses', () => {
    const refused = ['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.1.2.3', '172.31.255.255']
    refused.push('192.168.0.1', '169.254.169.254', '100.100.100.200', '192.0.0.192', '198.19.0.1')
    refused.push('224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fec0::1', 'ff02::1')
    refused.push('fd00:ec2::254', 'fc00::1', '2001:db8::1', '3fff::1')
    refused.push('168.63.129.16', '100:0:0:1::1', '5f00::1')
    for (const address of refused) assert.ok(!may(address), address)
  })

  it('judges IPv4 in every IPv6 clothing as what it is', () => {
    const wrapped = ['::ffff:127.0.0.1', '::FFFF:7f00:1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe']
    wrapped.push('0:0:0:0:0:ffff:7f00:1', '0000:0000:0000:0000:0000:ffff:7f00:0001')
    wrapped.push('::127.0.0.1', '::7f00:1', '::ffff:0:7f00:1')
    wrapped.push('64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::')
    for (const address of wrapped) assert.ok(!may(address), address)
    assert.ok(may('::ffff:8.8.8.8'))
    assert.ok(may('::ffff:808:808'))
  })

  it('lets pass what the operator allows, and nothing beside it', () => {
    const some = addressGuard(parseRanges('127.0.0.0/30, 10.1.2.3,fd00::/8'))
    for (const address of ['127.0.0.1', '127.0.0.3', '10.1.2.3', 'fd12::1', '::ffff:127.0.0.2']) {
      assert.ok(some(address), address)
    }
    for (const address of ['127.0.0.4', '10.1.2.4', 'fc00::1', '::1']) {
      assert.ok(!some(address), address)
    }
  })
})

describe('a list of ranges', () => {
  it('is refused when a part of it is no range, naming the part', () => {
    const wrong = ['127.0.0.0/33', '::/129', '127.0.0.0/-1', '127.0.0.0/8.5', 'localhost', '127.1']
    // Without the check an empty prefix would count as 0, which covers every address.
    wrong.push('10.0.0.0/', '10.0.0.0/8/9', '10.0.0.0/0x8', '10.0.0.0/ 8', '/8')
    for (const part of wrong) {
      assert.throws(
        () => parseRanges(`127.0.0.0/8,${part}`),
        (error: Error) => error.message.startsWith(`${part} is not an address range`),
        part,
      )
    }
  })

  it('may hold everything, when that is what is said', () => {
    assert.ok(addressGuard(parseRanges('0.0.0.0/0,::/0'))('127.0.0.1'))
  })
})

describe('the list of targets that tenants may name', () => {
  const may = (targets: string, address: Partial<ResolvedAddress>) =>
    tenantGuard(parseTargets(targets)).may({
      ...{ host: 'git.internal', port: 443, address: '10.0.0.7', ...address },
    })

  it('is public addresses alone, unless a target is listed with its port', () => {
    assert.ok(may('', { address: '8.8.8.8' }))
    assert.ok(!may('', {}))
    assert.ok(may('git.internal:443', {}))
    assert.ok(may('GIT.internal:443', { host: 'git.INTERNAL.' }))
    assert.ok(!may('git.internal:443', { port: 22 }))
    assert.ok(!may('git.internal:443', { host: 'x.git.internal' }))
    assert.ok(may('10.0.0.0/24:443', { host: 'any.example' }))
    assert.ok(!may('10.0.0.0/24:443', { port: 8787 }))
    assert.ok(!may('10.0.0.0/24:443', { address: '10.0.1.7' }))
    assert.ok(may('10.0.0.7:*', { port: 1 }))
    assert.ok(may('[fd00::/8]:8080,[::1]:*', { port: 8080, address: 'fd12::1' }))
    assert.ok(!may('[fd00::/8]:8080', { port: 80, address: 'fd12::1' }))
  })

  it('is refused when a part of it names no port, or is no target', () => {
    const wrong = ['git.internal', '10.0.0.0/8', 'a:0', 'a:65536', 'a:443x', ':443', '10.0.0/8:443']
    wrong.push(
      '10.0.0.0/33:443',
      '::1:443',
      '[::1]',
      '[git.internal]:443',
      'a b:443',
      '*.x:443',
      '127.1:80',
    )
    for (const part of wrong)
      assert.throws(
        () => parseTargets(`a.example:443,${part}`),
        /is not host:port or range:port/,
        part,
      )
  })
})

async function serving(listener: RequestListener, host = '127.0.0.1') {
  let dialled = 0
  const server = createServer(listener).on('connection', () => dialled++)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { port, dialled: () => dialled, close: () => server.close() }
}

describe('the runtime’s fetch under a guarded agent', () => {
  let original: Dispatcher
  let server: Awaited<ReturnType<typeof serving>>
  const agents: Agent[] = []

  function guardWith(ranges: string): void {
    const agent = guardedAgent(operatorGuard(parseRanges(ranges)))
    agents.push(agent)
    setGlobalDispatcher(agent)
  }

  const refusal = async (url: string): Promise<unknown> => {
    try {
      await (await fetch(url)).text()
      return undefined
    } catch (error) {
      return (error as Error).cause
    }
  }

  before(async () => {
    original = getGlobalDispatcher()
    server = await serving((request, response) => {
      if (request.url === '/away') {
        response.writeHead(302, { location: `http://127.0.0.2:${server.port}/` }).end()
      } else response.end('hello')
    })
  })

  after(async () => {
    setGlobalDispatcher(original)
    await Promise.all(agents.map((agent) => agent.destroy()))
    server.close()
  })

  it('refuses a literal loopback address before anything is dialled', async () => {
    guardWith('')
    const cause = await refusal(`http://127.0.0.1:${server.port}/`)
    assert.ok(cause instanceof RefusedAddressError)
    assert.equal(cause.code, 'EREFUSEDADDRESS')
    assert.match(cause.message, /^127\.0\.0\.1 is a private or reserved address/)
    assert.equal(server.dialled(), 0)
  })

  it('refuses a name by the address it resolves to', async () => {
    guardWith('')
    const cause = await refusal(`http://localhost:${server.port}/`)
    assert.ok(cause instanceof RefusedAddressError)
    assert.match(
      cause.message,
      /^localhost leads to a private or reserved address, which this server does not dial(; its operator opens it by EGRESS_TENANT_TARGETS)?$/,
    )
    assert.equal(server.dialled(), 0)
  })

  it('refuses every spelling of a loopback address that a URL may hold', async () => {
    guardWith('')
    const hosts = ['2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '127.1', '127.0.0.1.']
    hosts.push('[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::1]', '[::]', '0.0.0.0', '0')
    for (const host of hosts) {
      const cause = await refusal(`http://${host}:${server.port}/`)
      assert.ok(cause instanceof RefusedAddressError, `${host}: ${String(cause)}`)
    }
    assert.equal(server.dialled(), 0)
  })

  it('refuses TLS endpoints alike', async () => {
    guardWith('')
    for (const host of ['127.0.0.1', 'localhost']) {
      assert.ok((await refusal(`https://${host}:${server.port}/`)) instanceof RefusedAddressError)
    }
    assert.equal(server.dialled(), 0)
  })

  it('dials what the operator allows, by number and by name', async () => {
    guardWith('127.0.0.0/8,::1')
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]']) {
      const answer = await fetch(`http://${host}:${server.port}/`)
      assert.equal(await answer.text(), 'hello', host)
    }
  })

  it('judges the target of a redirect like any other', async () => {
    guardWith('127.0.0.1')
    const cause = await refusal(`http://127.0.0.1:${server.port}/away`)
    assert.ok(cause instanceof RefusedAddressError)
    assert.match(cause.message, /^127\.0\.0\.2 /)
  })

  it('dials for tenants what they may name, and for the operator what the operator may', async () => {
    const told: ResolvedAddress[] = []
    const tenant = tenantGuard([], (address) => told.push(address))
    setGlobalDispatcher(
      guardedDispatcher({ operator: operatorGuard(parseRanges('127.0.0.0/8,::1')), tenant }),
    )
    const url = `http://localhost:${server.port}/`
    assert.ok((await refusal(url)) instanceof RefusedAddressError)
    assert.match(told[0]?.address ?? '', /^(127\.0\.0\.1|::1)$/, 'the operator is told')
    const answer = await asOperator(async () => fetch(url))
    assert.equal(await answer.text(), 'hello')
    // The tenants' guard does not use the operator's open connection.
    assert.ok((await refusal(url)) instanceof RefusedAddressError)
    setGlobalDispatcher(
      guardedDispatcher({
        operator: operatorGuard(none),
        tenant: tenantGuard(parseTargets(`localhost:${server.port}`)),
      }),
    )
    assert.equal(await (await fetch(url)).text(), 'hello')
    assert.ok((await refusal(`http://127.0.0.1:${server.port}/`)) instanceof RefusedAddressError)
    assert.ok((await asOperator(() => refusal(url))) instanceof RefusedAddressError)
  })

  it('reports what is wrong with a name that does not resolve as just that', async () => {
    guardWith('')
    const cause = await refusal(`http://nobody.invalid:${server.port}/`)
    assert.match(String((cause as NodeJS.ErrnoException).code), /^(ENOTFOUND|EAI_AGAIN)$/)
  })
})

describe('a guarded agent', () => {
  it('holds as many streams to one endpoint as there are sessions', async () => {
    const waiting = new Set<() => void>()
    const server = await serving((_request, response) => {
      response.write('x')
      waiting.add(() => response.end())
    })
    const agent = guardedAgent(operatorGuard(parseRanges('127.0.0.1')))
    const ask = () =>
      agent.request({ origin: `http://127.0.0.1:${server.port}`, path: '/', method: 'GET' })
    const answers = await Promise.all(Array.from({ length: 300 }, ask))
    assert.equal(waiting.size, 300)
    for (const end of waiting) end()
    await Promise.all(answers.map(({ body }) => body.dump()))
    await agent.destroy()
    server.close()
  })
})
