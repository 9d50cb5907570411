/** The Helm chart: what it makes of values, and what it refuses. No cluster is here, and none has seen it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { listSettings } from '@steward/base/settings/setting.ts'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import { workerSettings } from '@steward/worker/settings.ts'
import type { Values } from './chart.ts'
import {
  chart,
  chartRenderer,
  plainManifests,
  readDefaults,
  readDocuments,
  refuseValues,
} from './chart.ts'
import { refusedValues, several, variations, worker } from './chart-values.ts'
import type { KubernetesObject } from './kubernetes.ts'
import { objectReader } from './kubernetes.ts'

const root = new URL('../../', import.meta.url)
/** Settings that the templates set. */
const setByValues = new Set(
  ['server.yaml', 'worker.yaml'].flatMap((name) =>
    Array.from(
      readFileSync(new URL(`deploy/helm/templates/${name}`, root), 'utf8').matchAll(
        /^ +- name: ([A-Z_]+)$/gm,
      ),
      ([, setting = '']) => setting,
    ),
  ),
)

describe('the values of the chart', () => {
  it('are those of values.yaml, and all variations', () => {
    for (const [name, values] of Object.entries(variations))
      assert.equal(refuseValues(values), undefined, name)
  })

  it('name no field that there is not, and have the right type', () => {
    for (const values of [
      { replica: 2 },
      { replicas: '2' },
      { image: { name: 'steward' } },
      { worker: { enabled: 'yes' } },
      { database: 'mysql' },
      { settings: { 'lower-case': 'x' } },
      { persistence: { size: 'much' } },
      { env: { A: 'b' } },
    ])
      assert.notEqual(refuseValues(values), undefined, JSON.stringify(values))
  })

  it('are all named by the schema', () => {
    const described = JSON.parse(
      readFileSync(new URL('deploy/helm/values.schema.json', root), 'utf8'),
    ) as { properties: object }
    const names = Object.keys(described.properties).filter((name) => name !== 'global')
    assert.deepEqual(names.toSorted(), Object.keys(readDefaults()).toSorted())
  })

  it('hold no setting that is a secret', () => {
    for (const { name, secret = false } of listSettings(serverProgram.settings)) {
      if (setByValues.has(name)) continue
      const isRefused = refuseValues({ settings: { [name]: 'x' } }) !== undefined
      assert.equal(isRefused, secret, name)
    }
    for (const { name, secret = false } of listSettings(workerSettings.settings)) {
      if (setByValues.has(name)) continue
      const isRefused = refuseValues({ worker: { settings: { [name]: 'x' } } }) !== undefined
      assert.equal(isRefused, secret, name)
    }
  })

  it('hold no setting twice: those that other values set are refused', () => {
    for (const name of setByValues)
      assert.notEqual(refuseValues({ settings: { [name]: 'x' } }), undefined, name)
  })
})

describe('the objects of the chart', () => {
  let renderer: ReturnType<typeof chartRenderer>
  let readObject: ReturnType<typeof objectReader>
  before(() => {
    renderer = chartRenderer()
    readObject = objectReader()
  })
  after(() => renderer.close())

  const objectsOf = (values: Values): KubernetesObject[] =>
    renderer.renderObjects(values).map(readObject)
  const deployments = (values: Values) =>
    objectsOf(values).flatMap((each) => (each.kind === 'Deployment' ? [each] : []))
  const podOf = (values: Values, name = 'steward') => {
    const found = deployments(values).find(({ metadata }) => metadata?.name === name)
    const pod = found?.spec?.template.spec
    const container = pod?.containers[0]
    assert.ok(found?.spec && pod && container)
    return { spec: found.spec, pod, container }
  }

  for (const [name, values] of Object.entries(variations))
    it(`are valid: ${name}`, () => {
      assert.ok(objectsOf(values).length >= 4)
    })

  it('hold numbers of settings as they are, however large', () => {
    const settings = { SANDBOX_DISK_FILES: 1_234_567, WORKSPACE_SHARE: 50 }
    const [map] = objectsOf({ settings }).filter(({ kind }) => kind === 'ConfigMap')
    assert.deepEqual(map && 'data' in map && map.data, {
      SANDBOX_DISK_FILES: '1234567',
      WORKSPACE_SHARE: '50',
    })
  })

  it('are checked for fields that there are not, and for the types of fields', () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount' }
    assert.throws(() => readObject({ ...account, secret: [] }), /ServiceAccount: .*additional prop/)
    assert.throws(() => readObject({ ...account, automountServiceAccountToken: 'no' }), /boolean/)
    assert.throws(() => readObject({ apiVersion: 'v1', kind: 'Pod' }), /Pod: not a kind/)
  })

  for (const [why, values] of Object.entries(refusedValues))
    it(`are refused with "${why}"`, () => {
      assert.equal(refuseValues(values), undefined)
      assert.throws(
        () => renderer.renderTexts(values),
        ({ message }: Error) => message.includes(`error calling fail: ${why}`),
      )
    })

  it('are the plain manifests in deploy/kubernetes, with the default values', () => {
    const committed = readFileSync(new URL('deploy/kubernetes/steward.yaml', root), 'utf8')
    assert.equal(committed, plainManifests(renderer.renderTexts), 'node scripts/manifests.ts')
    assert.deepEqual(
      readDocuments(committed).toSorted(byKind),
      renderer.renderObjects({}).toSorted(byKind),
    )
  })

  it('have the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      version: string
    }
    assert.deepEqual([chart.version, chart.appVersion], [version, version])
  })

  it('hold no secret: settings that are secret come as files of the Secret', () => {
    for (const [name, values] of Object.entries(variations)) {
      const objects = objectsOf(values)
      assert.ok(!objects.some(({ kind }) => String(kind) === 'Secret'), name)
      for (const { spec } of deployments(values)) {
        const variables = spec?.template.spec?.containers.flatMap(({ env = [] }) => env) ?? []
        for (const { name: variable, value } of variables)
          if (/SECRET|KEY|TOKEN|DATABASE_URL|STORE_BACKENDS/.test(variable))
            assert.match(`${variable}=${value}`, /_FILE=\/run\/secrets\/steward\/[-\w]+$/)
      }
    }
    const { pod, container } = podOf(several)
    const files = container.env
      ?.filter(({ name }) => name.endsWith('_FILE'))
      .map(({ name }) => name)
    assert.deepEqual(files, [
      'API_KEY_FILE',
      'DATABASE_URL_FILE',
      'PLATFORM_ROOT_SECRET_FILE',
      'STORE_BACKENDS_FILE',
    ])
    const secret = pod.volumes?.find(({ name }) => name === 'secrets')?.secret
    assert.deepEqual(
      secret?.items?.map(({ key }) => key),
      ['api-key', 'database-url', 'root-secret', 'store-backends'],
    )
  })

  it('name only settings that there are', () => {
    const known = new Set(
      [serverProgram.settings, workerSettings.settings].flatMap((tree) =>
        listSettings(tree).map(({ name }) => name),
      ),
    )
    for (const values of [{ ...several, ...worker, metrics: { enabled: true } }])
      for (const { spec } of deployments(values))
        for (const { name } of spec?.template.spec?.containers.flatMap(({ env = [] }) => env) ?? [])
          assert.ok(known.has(name.replace(/_FILE$/, '')), name)
  })

  it('keep to the strictest rules for pods without sandboxes', () => {
    const { pod, container } = podOf(several)
    assert.equal(pod.automountServiceAccountToken, false)
    assert.equal(pod.hostUsers, undefined)
    assert.deepEqual(container.securityContext, {
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    })
    assert.deepEqual(container.env?.find(({ name }) => name === 'SANDBOX_PROVIDER')?.value, 'none')
  })

  it('give pods with sandboxes user namespaces and a whole /proc, and no capability', () => {
    const inServer = { sandboxes: { inServer: true } }
    for (const { pod, container } of [podOf(inServer), podOf(worker, 'steward-worker')]) {
      assert.equal(pod.hostUsers, false)
      const { procMount, seccompProfile, capabilities, runAsNonRoot } =
        container.securityContext ?? {}
      assert.deepEqual(
        { procMount, seccompProfile, capabilities, runAsNonRoot },
        {
          procMount: 'Unmasked',
          seccompProfile: { type: 'Unconfined' },
          capabilities: { drop: ['ALL'] },
          runAsNonRoot: true,
        },
      )
    }
  })

  it('replace one server with its volume by stopping it first, and several without a gap', () => {
    assert.deepEqual(podOf({}).spec.strategy, { type: 'Recreate' })
    assert.deepEqual(podOf(several).spec.strategy, {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    })
  })

  it('show Kubernetes when a server is ready and alive, and give it the time to stop', () => {
    const { pod, container } = podOf({})
    assert.equal(container.startupProbe?.httpGet?.path, '/readyz')
    assert.equal(container.readinessProbe?.httpGet?.path, '/readyz')
    assert.equal(container.livenessProbe?.httpGet?.path, '/healthz')
    const pause = container.lifecycle?.preStop?.sleep?.seconds ?? 0
    assert.ok(pause > 0 && (pod.terminationGracePeriodSeconds ?? 0) > pause + 20)
  })

  it('let servers reach each other, and nobody else reach that port', () => {
    const policy = objectsOf(several).flatMap((each) =>
      each.kind === 'NetworkPolicy' ? [each] : [],
    )[0]
    const peers = policy?.spec?.ingress?.find(({ ports }) => ports?.[0]?.port === 'peers')
    assert.deepEqual(peers?.from, [{ podSelector: policy?.spec?.podSelector }])
    const address = podOf(several).container.env?.find(({ name }) => name === 'PEER_ADDRESS')
    assert.equal(address?.valueFrom?.fieldRef?.fieldPath, 'status.podIP')
  })

  it('spread several servers over nodes, and keep all but one of them during a drain', () => {
    assert.equal(podOf(several).pod.topologySpreadConstraints?.length, 2)
    const kinds = objectsOf(several).map(({ kind }) => kind)
    assert.ok(kinds.includes('PodDisruptionBudget') && !kinds.includes('PersistentVolumeClaim'))
  })

  it('ask the cluster for nothing: there is no Role', () => {
    const kinds = Object.values(variations).flatMap((values) =>
      objectsOf(values).map(({ kind }) => kind),
    )
    assert.doesNotMatch(kinds.join(' '), /Role|Secret/)
  })
})

const byKind = (one: unknown, other: unknown): number =>
  JSON.stringify(one).localeCompare(JSON.stringify(other))
