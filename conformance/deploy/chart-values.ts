/** Values of the chart in its tests. */
import type { Values } from './chart.ts'

export const several = {
  database: 'postgres',
  files: 'bucket',
  replicas: 3,
  persistence: { enabled: false },
}
export const worker = { worker: { enabled: true, environmentId: 'env_01' } }
const profile = { type: 'Localhost', localhostProfile: 'steward.json' }
/** Values that the chart takes, by what they are for. */
export const variations: Record<string, Values> = {
  'one server on SQLite': {},
  'another Secret and release name': { existingSecret: 'mine', fullnameOverride: 'agents' },
  'several servers on Postgres and a bucket': several,
  'servers by their load': { ...several, autoscaling: { enabled: true } },
  'Postgres with files on a volume': { database: 'postgres' },
  'Postgres and a bucket, stopped for an upgrade': { ...several, updateStrategy: 'Recreate' },
  'an ingress with TLS': {
    ingress: {
      enabled: true,
      className: 'nginx',
      annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '512m' },
      hosts: [{ host: 'steward.example.com' }],
      tls: [{ secretName: 'steward-tls', hosts: ['steward.example.com'] }],
    },
  },
  'metrics with a ServiceMonitor': {
    metrics: {
      enabled: true,
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    },
    networkPolicy: {
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    },
  },
  'a worker': worker,
  'a worker with everything': {
    worker: {
      ...worker.worker,
      settings: { WORKER_SESSIONS: 4 },
      env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/ca/ca.pem' }],
      envFrom: [{ secretRef: { name: 'more' } }],
      extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }],
      runtimeClassName: 'gvisor',
    },
  },
  'sandboxes in the server': { sandboxes: { inServer: true, seccompProfile: profile } },
  'everything that is passed through': {
    secretSettings: { ANTHROPIC_API_KEY: 'anthropic' },
    settings: {
      STORE_FREE_MB: 2048,
      STEWARD_OFFLINE_MODEL: false,
      PUBLIC_URL: 'https://a.example',
    },
    env: [{ name: 'TZ', value: 'UTC' }],
    envFrom: [{ secretRef: { name: 'more' } }],
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }],
    commonLabels: { team: 'agents' },
    commonAnnotations: { contact: 'agents@example.com' },
    podAnnotations: { note: 'text' },
    podLabels: { tier: 'backend' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'agents', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    imagePullSecrets: [{ name: 'registry' }],
    image: { digest: `sha256:${'0'.repeat(64)}` },
    serviceAccount: { annotations: { role: 'agents' } },
    networkPolicy: { from: [{ podSelector: {} }], egress: [{ ports: [{ port: 443 }] }] },
  },
}

/** What loses data or cannot run, and the field that the refusal names. */
export const refusedValues: Record<string, Values> = {
  'replicas: several servers need database=postgres': { replicas: 2 },
  'replicas: several servers need files=bucket': { ...several, files: 'volume' },
  'replicas: several servers need persistence.enabled=false': { ...several, persistence: {} },
  'persistence.enabled: ': { persistence: { enabled: false } },
  'updateStrategy: ': { updateStrategy: 'RollingUpdate' },
  'metrics.serviceMonitor.enabled: ': { metrics: { serviceMonitor: { enabled: true } } },
  'worker.environmentId: ': { worker: { enabled: true } },
  'ingress.hosts: ': { ingress: { enabled: true } },
}
