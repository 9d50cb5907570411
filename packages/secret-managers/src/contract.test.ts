import { awsIdentity } from '@steward/cloud/aws.ts'
import { awsKeys } from '@steward/cloud/stubs/stub-aws.ts'
import { systemClock } from '@steward/base/time.ts'
import type { BearerIdentity, CloudIdentity } from '@steward/cloud/identity.ts'
import { awsKey } from './aws/kms.ts'
import { awsSecrets } from './aws/secrets.ts'
import { azureKey } from './azure/key.ts'
import { azureSecrets } from './azure/secrets.ts'
import type { TestManager } from './contract.ts'
import { testKeyService, testSecretManager } from './contract.ts'
import { fetchWire } from './fetch-wire.ts'
import { googleKey } from './google/kms.ts'
import { googleSecrets } from './google/secrets.ts'
import {
  awsVersion,
  azureVersion,
  newState,
  stubAws,
  stubAzure,
  stubGoogle,
} from './stubs/stub-clouds.ts'
import { startStubManager } from './stubs/stub-manager.ts'
import { startStubVault, vaultRoleId, vaultSecretId } from './stubs/stub-vault.ts'
import { vaultTransitKey } from './vault/transit.ts'
import { vaultSecrets } from './vault/vault.ts'

const wire = fetchWire(fetch)
const region = 'eu-central-1'

function openVault(kv: 1 | 2) {
  return async (): Promise<TestManager> => {
    const vault = await startStubVault()
    let jumpMs = 0
    const clock = { ...systemClock, now: () => Date.now() + jumpMs }
    const auth = { type: 'approle', role_id: vaultRoleId, mount: 'approle' } as const
    const settings = { type: 'vault', address: vault.server.url, kv } as const
    const given = { ...auth, secret_id: vaultSecretId }
    const mount = kv === 2 ? 'secret' : 'old'
    return {
      manager: vaultSecrets({ ...settings, mount, auth: given }, { wire, clock }),
      server: vault.server,
      put: (name, value) => String(vault.put(name, { value })),
      remove: vault.deleteNewest,
      deny: (name) => void vault.denied.add(name),
      revoke() {
        vault.tokens.clear()
        jumpMs += 6_000
      },
      refuse() {
        vault.tokens.clear()
        given.secret_id = 'a wrong secret id'
      },
      signIns: vault.signIns,
      secrets: () => vault.given,
      [Symbol.asyncDispose]: () => vault[Symbol.asyncDispose](),
    }
  }
}

testSecretManager('HashiCorp Vault and OpenBao, second version', openVault(2))

/** An identity whose tokens are `valid` until they are revoked. */
function stubIdentity() {
  const valid = new Set<string>()
  let count = 0
  let isRefused = false
  let current: string | undefined
  const identity: BearerIdentity = {
    async current() {
      if (isRefused)
        return { ok: false, message: 'AADSTS7000215: Invalid client', retryable: false }
      if (current === undefined) valid.add((current = `token-of-the-server-${++count}`))
      return { ok: true, credential: { token: current, expiresMs: null } }
    },
    forget() {
      current = undefined
    },
  }
  return {
    identity,
    valid,
    revoke: () => valid.clear(),
    refuse() {
      isRefused = true
    },
    signIns: () => count,
  }
}

type CloudKind = 'google' | 'azure'

async function openCloud(kind: CloudKind): Promise<TestManager> {
  const state = newState()
  const { identity, valid, ...own } = stubIdentity()
  const server = await startStubManager(
    kind === 'google' ? stubGoogle(state, valid) : stubAzure(state, valid),
  )
  const manager =
    kind === 'google'
      ? googleSecrets({ project: 'p', endpoint: server.url }, { wire, identity })
      : azureSecrets({ vault_url: server.url }, { wire, identity })
  const versionOf = kind === 'google' ? String : azureVersion
  return {
    manager,
    server,
    put(name, value) {
      const versions = state.secrets.get(name) ?? []
      state.secrets.set(name, versions)
      return versionOf(versions.push(value))
    },
    remove: (name) => void state.secrets.get(name)?.push(null),
    deny: (name) => void state.denied.add(name),
    ...own,
    secrets: () => [...valid],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

testSecretManager('Google Secret Manager', () => openCloud('google'))
testSecretManager('Azure Key Vault', () => openCloud('azure'))

const awsGiven = {
  type: 'aws_keys',
  access_key_id: awsKeys.accessKeyId,
  secret_access_key: awsKeys.secretAccessKey,
} as const

testSecretManager('AWS Secrets Manager', async () => {
  const state = newState()
  const keys = new Map([
    [awsKeys.accessKeyId as string, { secret: awsKeys.secretAccessKey as string }],
  ])
  const server = await startStubManager(stubAws(state, keys))
  const own = awsIdentity(awsGiven, { fetch, region })
  let isRevoked = false
  const identity: CloudIdentity<
    Extract<Awaited<ReturnType<typeof own.current>>, { ok: true }>['credential']
  > = {
    current: async () => {
      const found = await own.current()
      if (!isRevoked || !found.ok) return found
      return { ok: true, credential: { ...found.credential, accessKeyId: 'AKIAREVOKED' } }
    },
    forget() {
      isRevoked = false
    },
  }
  return {
    manager: awsSecrets({ region, endpoint: server.url }, { wire, identity }),
    server,
    put(name, value) {
      const versions = state.secrets.get(name) ?? []
      state.secrets.set(name, versions)
      return awsVersion(versions.push(value))
    },
    remove: (name) => void state.secrets.get(name)?.push(null),
    deny: (name) => void state.denied.add(name),
    revoke() {
      isRevoked = true
    },
    refuse: () => keys.clear(),
    signIns: () => 0,
    secrets: () => [awsKeys.secretAccessKey],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
})

testKeyService('transit of HashiCorp Vault and OpenBao', async () => {
  const vault = await startStubVault()
  vault.tokens.add('hvs.of-the-server')
  const service = vaultTransitKey(
    {
      type: 'vault-transit',
      address: vault.server.url,
      auth: { type: 'token', token: 'hvs.of-the-server' },
      mount: 'transit',
      key: 'steward',
    },
    { wire, clock: systemClock },
  )
  return {
    service,
    server: vault.server,
    [Symbol.asyncDispose]: () => vault[Symbol.asyncDispose](),
  }
})

testKeyService('AWS KMS', async () => {
  const keys = new Map([
    [awsKeys.accessKeyId as string, { secret: awsKeys.secretAccessKey as string }],
  ])
  const server = await startStubManager(stubAws(newState(), keys))
  const identity = awsIdentity(awsGiven, { fetch, region })
  const key = 'alias/steward'
  return {
    service: awsKey({ region, endpoint: server.url, key }, { wire, identity }),
    server,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
})

testKeyService('Google Cloud KMS', async () => {
  const { identity, valid } = stubIdentity()
  const server = await startStubManager(stubGoogle(newState(), valid))
  const key = 'projects/p/locations/global/keyRings/r/cryptoKeys/k'
  return {
    service: googleKey({ key, endpoint: server.url }, { wire, identity }),
    server,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
})

testKeyService('Azure Key Vault', async () => {
  const { identity, valid } = stubIdentity()
  const server = await startStubManager(stubAzure(newState(), valid))
  return {
    service: azureKey({ vault_url: server.url, key: 'steward' }, { wire, identity }),
    server,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
})
