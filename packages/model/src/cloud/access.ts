/** How a cloud serves a model, and the addresses there. */
import type {
  AwsCredentials,
  AzureCredentials,
  GoogleCredentials,
} from '@steward/cloud/credentials.ts'

export const cloudTypes = ['bedrock', 'vertex', 'foundry'] as const
export type CloudType = (typeof cloudTypes)[number]

/** Where in a cloud. */
export type CloudLocation =
  | { type: 'bedrock'; region: string }
  | { type: 'vertex'; region: string; project: string }
  | { type: 'foundry' }

/**
 * Without credentials the key of the spec is sent: an API key of Bedrock or of a Foundry resource. Vertex AI has no such
 * keys. SECRET: never logged
 */
export type CloudCredentials =
  | { type: 'bedrock'; credentials?: AwsCredentials }
  | { type: 'vertex'; credentials?: GoogleCredentials }
  | { type: 'foundry'; credentials?: AzureCredentials }

/** `model`: the id of the model at the cloud. */
export type CloudAccess = CloudLocation & CloudCredentials & { model: string }

export function isCloud(type: string): type is CloudType {
  return cloudTypes.some((each) => each === type)
}

/** The host for requests; `base_url` of a configuration takes its place. */
export function cloudHost(place: CloudLocation & { resource?: string | undefined }): string {
  switch (place.type) {
    case 'bedrock': {
      const suffix = place.region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
      return `https://bedrock-runtime.${place.region}.${suffix}`
    }
    case 'vertex':
      return vertexHost(place.region)
    case 'foundry':
      return `https://${place.resource}.services.ai.azure.com`
  }
}

function vertexHost(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com`
  return `https://${region}-aiplatform.googleapis.com`
}

/** The path of a project's location, below which Vertex AI has its models. */
export const vertexPath = ({ project, region }: { project: string; region: string }): string =>
  `/v1/projects/${project}/locations/${region}`
