import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import {
  asOperator,
  guardedDispatcher,
  operatorGuard,
  parseRanges,
  RefusedAddressError,
  tenantGuard,
} from './dial.ts'
import { identityDispatcher, identityFetch } from './identity-dispatcher.ts'

describe('requests for the identity of this process', () => {
  const usual = getGlobalDispatcher()
  after(() => setGlobalDispatcher(usual))

  const refusal = (url: string): Promise<unknown> =>
    fetch(url, { signal: AbortSignal.timeout(100) }).then(
      () => undefined,
      (error: Error) => error.cause ?? error,
    )

  it('dials the addresses where a cloud says who this machine is for that question alone', async () => {
    const operator = operatorGuard(parseRanges(''))
    setGlobalDispatcher(
      identityDispatcher(operator, guardedDispatcher({ operator, tenant: tenantGuard([]) })),
    )
    const metadata = ['169.254.169.254', '169.254.170.2', '169.254.170.23', '[fd00:ec2::254]']
    metadata.push('[fd00:ec2::23]', '[fd20:ce::254]')
    const asIdentity = async (host: string) => {
      const signal = AbortSignal.timeout(100)
      const failed = identityFetch(`http://${host}:81/`, { signal })
      return failed.then(
        () => undefined,
        (error: Error) => error.cause ?? error,
      )
    }
    for (const host of [...metadata, '168.63.129.16']) {
      assert.ok((await refusal(`http://${host}:81/`)) instanceof RefusedAddressError, host)
      const asked = await asOperator(() => refusal(`http://${host}:81/`))
      assert.ok(asked instanceof RefusedAddressError, host)
    }
    const tenant = tenantGuard([])
    for (const address of [...metadata, '168.63.129.16'].map((each) => each.replace(/[[\]]/g, '')))
      assert.ok(!tenant.may({ host: 'metadata.google.internal', port: 80, address }), address)
    for (const host of metadata)
      assert.ok(!((await asIdentity(host)) instanceof RefusedAddressError), host)
    for (const host of ['168.63.129.16', '169.254.169.253', '10.0.0.1', '127.0.0.1'])
      assert.ok((await asIdentity(host)) instanceof RefusedAddressError, host)
  })
})
