/** Commands that delete infrastructure, what is published, or the contents of a data store. */
import type { Arguments, Check } from "./arguments.ts"

/** Programs that manage servers, clusters, clouds, hosting and packages. */
const managers = new RegExp(
  "^(?:terraform|tofu|terragrunt|pulumi|cdk|cdktf|sls|serverless|sst|copilot|amplify|sam|chalice|up|" +
    "vagrant|packer|kubectl|oc|kubectx|kubens|k|helm|helmfile|eksctl|kops|kind|minikube|k3d|" +
    String.raw`k3s-uninstall\.sh|kubeadm|rke|talosctl|gcloud|gsutil|az|azd|aws|doctl|heroku|flyctl|fly|vercel|vc|` +
    "netlify|ntl|wrangler|firebase|supabase|railway|render|neonctl|turso|pscale|planetscale|rclone|mc|" +
    "s3cmd|s5cmd|b2|linode-cli|hcloud|scw|oci|ibmcloud|vultr-cli|civo|exo|openstack|cf|eb|ecs-cli|nomad|" +
    "consul|vault|etcdctl|boundary|waypoint|virsh|virt-install|lxc|incus|multipass|limactl|colima|" +
    String.raw`vboxmanage|prlctl|vmrun|xl|velero|argocd|argo|flux|istioctl|linkerd|tkn|kn|kafka-[\w-]+(?:\.sh)?|` +
    "rabbitmqctl|rabbitmqadmin|rpk|pulsar-admin|nats|gh|glab|tea|hub|npm|pnpm|yarn|bun|cargo|gem|twine|" +
    "poetry|dotnet|nuget|vsce|ovsx|snapcraft|docker|podman|nerdctl|buildah|skopeo|crane|regctl|" +
    "docker-compose|podman-compose|ansible|ansible-playbook|juju|dokku|caprover|pm2|systemctl|service|" +
    "mongosh?|redis-cli|valkey-cli|keydb-cli|influx|curator|es|elasticdump|confluent|stripe|sentry-cli|" +
    "auth0|okta|databricks|snow|snowsql|bq)$"
)

/** Words that delete, in every one of these programs. */
const deletes = new RegExp(
  String.raw`^(?:(?:[\w-]+:)?(?:destroy|delete|remove|purge|terminate|uninstall|teardown|tear-down|unpublish|` +
    "wipe|nuke|erase|obliterate|deprovision|decommission|undeploy|unregistervm|undefine|unregister|" +
    String.raw`flushall|flushdb|reset)(?:-[\w-]+)?|delete[-A-Z_]\S*|[\w-]+-delete|del|rm|rb|dropdatabase)$`,
  "i"
)

/** Subcommands with these words delete nothing that is worth a question. */
const harmless: { readonly [program: string]: RegExp } = {
  ansible: /./,
  "ansible-playbook": /./,
  bun: /^(?!unpublish)./,
  cargo: /^(?!yank|owner)./,
  docker: /./,
  dotnet: /^(?!nuget$|delete$)./,
  "docker-compose": /./,
  gem: /^(?!yank)./,
  npm: /^(?!unpub|owner$|access$|team$)./,
  pm2: /./,
  pnpm: /^(?!unpub)./,
  podman: /./,
  poetry: /./,
  "podman-compose": /./,
  nerdctl: /./,
  service: /./,
  systemctl: /./,
  yarn: /^(?!unpub|npm$)./
}

/** `plan -destroy` only shows what would be deleted. */
const destroysByOption = ({ has, some }: Arguments): boolean => some(/^-{1,2}destroy$/) && !has("plan")

/** Subcommands of `aws` that delete or switch off. */
const awsDeletes = new RegExp(
  String.raw`^(?:terminate-\S+|\S+-delete-\S+|remove-\S+|deregister-\S+|schedule-key-deletion|purge-queue|` +
    String.raw`revoke-\S+|disable-\S+)$`
)

/** Options and words that delete, for single programs. */
const extra: { readonly [program: string]: (args: Arguments) => boolean } = {
  ansible: ({ some }) => some(/state=absent/),
  aws: (args) =>
    args.some(awsDeletes) ||
    args.long("delete") || (args.has("s3") && args.has("rm")),
  az: ({ some }) => some(/^delete-batch$|^purge$/),
  bq: ({ has }) => has("rm"),
  buildah: ({ has }) => has("rm") || has("rmi"),
  cargo: ({ has, long }) => (has("yank") && !long("undo")) || (has("owner") && long("remove")),
  cdk: ({ some }) => some(/^destroy$/),
  consul: ({ has }) => has("leave") || has("force-leave"),
  dotnet: ({ has }) => has("nuget", "delete"),
  etcdctl: ({ has }) => has("del"),
  firebase: ({ has }) => has("hosting:disable"),
  fly: ({ has }) => has("suspend"),
  gem: ({ has }) => has("yank"),
  gh: ({ has, long, some }) =>
    (has("sync") && long("force")) || some(/^--?(?:X|method)=?DELETE$|^DELETE$/i) ||
    (has("api") && some(/^force=true$|^query=[\s\S]*\bmutation\b[\s\S]*\bdelete\w+\s*\(/i)),
  glab: ({ some }) => some(/^DELETE$/i),
  gsutil: ({ has, texts }) => has("rm") || has("rb") || (has("rsync") && texts.includes("-d")),
  helm: ({ operands }) => /^(?:un|uninstall|del|delete)$/.test(operands[0] ?? ""),
  kubectl: ({ has, long }) => has("drain") || (has("replace") && long("force")) || long("prune"),
  oc: ({ has, long }) => has("drain") || (has("replace") && long("force")) || long("prune"),
  "k3s-uninstall.sh": () => true,
  nomad: ({ some }) => some(/^-?-purge$/) || some(/^(?:gc)$/),
  npm: ({ operands }) => "unpublish".startsWith(operands[0] ?? " ") && (operands[0] ?? "").length > 4,
  pulumi: ({ operands }) => /^(?:destroy|down|dn)$/.test(operands[0] ?? ""),
  "redis-cli": ({ some }) => some(/^(?:flushall|flushdb|script flush|shutdown|debug)$/i),
  "valkey-cli": ({ some }) => some(/^(?:flushall|flushdb|shutdown)$/i),
  railway: ({ has }) => has("down"),
  rclone: ({ operands }) => /^(?:sync|purge|delete|deletefile|rmdirs?|cleanup|move|moveto)$/.test(operands[0] ?? ""),
  s3cmd: ({ long, some }) => long("delete-removed") || some(/^(?:del|rb|rm)$/),
  snow: ({ has }) => has("drop"),
  terraform: destroysByOption,
  tofu: destroysByOption,
  terragrunt: destroysByOption,
  vault: ({ has }) => has("disable") || has("revoke") || has("seal"),
  virsh: ({ some }) => some(/^(?:destroy|undefine|vol-wipe|\S+-(?:delete|destroy|undefine))$/),
  vboxmanage: ({ some }) => some(/^(?:closemedium|--delete)$/)
}

/** Programs of which only the first words are a subcommand: the others are names of files and things. */
const maxVerbDepth = 6

const deletesInfrastructure = (args: Arguments): boolean => {
  const { long, name, operands, some } = args
  if (!managers.test(name) || long("dry-run", "help") && !name.startsWith("docker")) return false
  if (extra[name]?.(args) === true) return true
  if (name.startsWith("kafka-")) return some(/^--(?:delete|remove)(?![a-z])/)
  if (/^(?:mongosh?|curator|es|(?:redis|valkey|keydb)-cli)$/.test(name)) return false
  if (harmless[name]?.test(operands[0] ?? "") === true) return false
  if (/^(?:kubectl|oc)$/.test(name) && /^(?:exec|run|debug|logs|describe|get|explain)$/.test(operands[0] ?? "")) {
    return false
  }
  return operands.slice(0, maxVerbDepth).some((text) => deletes.test(text))
}

/** Archives of backups that are deleted, and not only thinned by a rule that keeps some. */
const deletesBackups = ({ flag, has, long, name, operands: [verb = ""], some }: Arguments): boolean =>
  !long("dry-run") && (
    (name === "borg" && (verb === "delete" || (verb === "prune" && !some(/^--keep/)))) ||
    (name === "restic" && verb === "forget" && long("prune") && !flag("n")) ||
    (name === "duplicity" && verb.startsWith("remove-")) ||
    (name === "kopia" && (has("delete") || has("disconnect")))
  )

const containers = /^(?:docker|podman|nerdctl|docker-compose|podman-compose)$/

/** Containers: what keeps data, and everything at once. */
const deletesContainers = (args: Arguments, isFromElsewhere: boolean): boolean => {
  const { flag, has, long, name, operands, texts } = args
  if (!containers.test(name)) return false
  const isCompose = name.endsWith("-compose") || has("compose")
  if (isCompose) return (has("down") && (flag("v") || long("volumes", "rmi"))) || (has("rm") && flag("v"))
  const [area = "", verb = ""] = operands
  if (/^(?:exec|run|build|logs|cp)$/.test(area)) return false
  if (has("prune") || has("swarm", "leave") || has("system", "reset")) return true
  const removes = /^(?:rm|remove|rmi|delete)$/
  if (/^(?:volume|stack|service|secret|config|network|node|pod|machine|context|buildx|plugin|manifest)$/.test(area)) {
    return removes.test(verb) || verb === "down"
  }
  const isRemoval = removes.test(area) || (/^(?:container|image|images)$/.test(area) && removes.test(verb))
  return isRemoval &&
    (isFromElsewhere || flag("v") || long("volumes", "all") || flag("a") || texts.some((text) => text.includes("$")))
}

/** Their subcommands that empty it. */
const migrationsThatDrop = new RegExp(
  String.raw`^(?:db:drop\S*|schema:drop|schema:fresh|database:drop|database:reset|database drop|drop|drop-all|` +
    String.raw`reset|ecto\.(?:drop|reset)|clean|doctrine:(?:database|schema):drop|db:migrate:undo:all|` +
    "migrate:rollback|down-to)$"
)

/** Programs that change the tables of a database. */
const migrators = new RegExp(
  "^(?:sequelize(?:-cli)?|typeorm|knex|mikro-orm|drizzle-kit|diesel|sqlx|flyway|liquibase|alembic|" +
    String.raw`dbmate|goose|migrate|mix|ecto|doctrine|console|bin\/console)$`
)

/** Commands of frameworks that empty a database. */
const emptiesDatabase = ({ has, name, operands, some }: Arguments): boolean => {
  const text = operands.join(" ")
  if (/^(?:rails|rake|bin\/rails)$/.test(name)) {
    return some(/^db:(?:drop|reset|purge|truncate_all|schema:load|setup)(?::|$)|^db:migrate:reset$|^db:rollback$/)
  }
  if (name === "prisma") return /\bmigrate reset\b|\bdb push\b.*force-reset/.test(text) || some(/^--force-reset$/)
  if (name === "artisan" || (name === "php" && some(/(?:^|\/)artisan$/))) {
    return some(/^(?:migrate:(?:fresh|reset|refresh)|db:wipe)$/)
  }
  if (name === "wp") return /\bdb (?:reset|drop|clean)\b/.test(text)
  if (/^(?:manage\.py|django-admin)$/.test(name) || (name.startsWith("python") && some(/(?:^|\/)manage\.py$/))) {
    return has("flush") || has("reset_db") || /\bmigrate \S+ zero\b/.test(text)
  }
  if (
    migrators.test(name)
  ) {
    return some(migrationsThatDrop) ||
      /\b(?:database (?:drop|reset)|downgrade base|drop -f)\b/.test(text)
  }
  return false
}

/** Code of the shell of MongoDB. */
const emptiesCollection =
  /dropDatabase|\.drop(?:Index(?:es)?|Collection)?\(|\.(?:deleteMany|remove)\(\s*(?:\{\s*\}\s*)?[),]/

const stores: ReadonlyArray<Check> = [
  ["sql-drop", ({ name }) => /^(?:dropdb|dropuser|droplang|pg_dropcluster)$/.test(name)],
  ["sql-drop", ({ has, name }) => /^(?:mysqladmin|mariadb-admin)$/.test(name) && has("drop")],
  [
    "sql-drop",
    ({ name, some }, { inputs = [] }) =>
      /^mongo(?:sh)?$/.test(name) &&
      (some(emptiesCollection) || inputs.some(({ text }) => emptiesCollection.test(text)))
  ],
  ["sql-drop", ({ name, some }, { inputs = [] }) =>
    /^(?:redis|valkey|keydb)-cli$/.test(name) &&
    (some(/\bcall\(\s*["']flush(?:all|db)/i) || inputs.some(({ text }) => /^\s*flush(?:all|db)\b/im.test(text)))],
  ["sql-drop", ({ flag, long, name }) => name === "pg_restore" && (flag("c") || long("clean"))],
  ["sql-drop", ({ has, name }) => name === "bq" && has("rm")],
  ["sql-drop", emptiesDatabase],
  [
    "sql-drop",
    (args, { filesFrom }) =>
      /^(?:redis|valkey|keydb)-cli$/.test(args.name) && filesFrom !== undefined && args.some(/^(?:del|unlink)$/i)
  ]
]

/** Checks of commands that manage servers, clusters, clouds, packages and data stores. */
export const serviceChecks: ReadonlyArray<Check> = [
  ...stores,
  ["infrastructure", deletesInfrastructure],
  ["infrastructure", deletesBackups],
  ["infrastructure", (args, { filesFrom }) => deletesContainers(args, filesFrom !== undefined)]
]
