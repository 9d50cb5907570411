/** Objects of Kubernetes against its published schemas. */
import { fileURLToPath } from 'node:url'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import { Ajv } from 'ajv'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap'
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import type { IService } from 'kubernetes-models/v1/Service'
import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import { createGenerator } from 'ts-json-schema-generator'

/** The kinds of objects that the chart makes. */
export type KubernetesObject =
  | IConfigMap
  | IDeployment
  | IHorizontalPodAutoscaler
  | IIngress
  | INetworkPolicy
  | IPersistentVolumeClaim
  | IPodDisruptionBudget
  | IService
  | IServiceAccount
  | IServiceMonitor

/** Each validates by its published schema. */
const models = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
  ServiceMonitor,
} satisfies Record<KubernetesObject['kind'], unknown>

const isModelled = (kind: unknown): kind is KubernetesObject['kind'] =>
  typeof kind === 'string' && Object.hasOwn(models, kind)
const kindOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined

/**
 * Reads an object as Kubernetes does with strict checks: by its published schema, and by the types of the package,
 * which unlike the schema refuse fields that there are not. Throws with the reason.
 */
export function objectReader(): (value: unknown) => KubernetesObject {
  const types = createGenerator({
    path: fileURLToPath(import.meta.url),
    tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
    skipTypeCheck: true,
    jsDoc: 'none',
  }).createSchema('KubernetesObject')
  const ajv = new Ajv({ strict: false }).addSchema(types, 'types')
  const reads = (value: unknown, kind: string): value is KubernetesObject =>
    ajv.validate(`types#/definitions/I${kind}`, value)
  return (value) => {
    const kind = kindOf(value)
    if (!isModelled(kind)) throw new Error(`${String(kind)}: not a kind that the chart makes`)
    if (!reads(value, kind)) throw new Error(`${kind}: ${ajv.errorsText()}`)
    const model: { validate(): void } = Reflect.construct(models[kind], [value])
    model.validate()
    return value
  }
}
