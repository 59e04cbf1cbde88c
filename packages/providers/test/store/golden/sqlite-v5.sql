PRAGMA application_id = 1113943161;
PRAGMA user_version = 5;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    status TEXT NOT NULL,
    messages INTEGER NOT NULL,
    state TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
  ) STRICT;
INSERT INTO sessions VALUES(1,'waiting',6,1,'suspended',3,'{"version":2,"sessionId":"waiting","revision":6,"turnNumber":1,"stepNumber":2,"coreType":"tool-loop","input":{"message":"deploy it, don''t ask"},"phase":"tools","open":{"role":"assistant","content":"","toolCalls":[{"id":"d1","name":"deploy","args":{"to":"production"}}]},"calls":[{"call":{"id":"d1","name":"deploy","args":{"to":"production"}},"status":"asked","ask":{"callId":"d1","tool":"deploy","args":{"to":"production"},"by":"gate","reason":"production","fingerprint":"{\"args\":{\"to\":\"production\"},\"tool\":\"deploy\"}","details":{"level":2}}}],"injections":[],"usage":{"inputTokens":20,"outputTokens":10},"counts":{"llmCalls":2,"toolCalls":2,"followUps":0,"elapsedMs":17.520083},"hookState":{},"durable":{"conversation":{"golden/plan":"deploy"},"turn":{},"calls":{}}}',1795278783463.0,1795278783478.0009765);
INSERT INTO sessions VALUES(2,'ended',2,1,'idle',2,'{"version":2,"sessionId":"ended","revision":2,"turnNumber":1,"stepNumber":1,"coreType":"tool-loop","input":{"message":"hi\n\"there\" 👋"},"phase":"ended","calls":[],"injections":[],"usage":{"inputTokens":0,"outputTokens":0},"counts":{"llmCalls":1,"toolCalls":0,"followUps":0,"elapsedMs":4.781893999999966},"hookState":{}}',1795278783479.0,1795278783484.0);
CREATE TABLE messages (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (session, position)
  ) STRICT;
INSERT INTO messages VALUES(1,0,'{"role":"user","content":"deploy it, don''t ask"}');
INSERT INTO messages VALUES(1,1,'{"role":"assistant","content":"","toolCalls":[{"id":"l1","name":"look","args":{"at":"here"}}]}');
INSERT INTO messages VALUES(1,2,'{"role":"tool","toolCallId":"l1","toolName":"look","content":"look done"}');
INSERT INTO messages VALUES(2,0,'{"role":"user","content":"hi\n\"there\" 👋"}');
INSERT INTO messages VALUES(2,1,'{"role":"assistant","content":"hello"}');
CREATE TABLE records (
    key INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    record TEXT NOT NULL
  ) STRICT;
INSERT INTO records VALUES(1,1,'{"point":"preToolCall","subject":"look","hooks":[{"hook":"gate","answer":"skipped","why":"not for this tool","durationMs":0}],"action":"Continue"}');
INSERT INTO records VALUES(2,1,'{"point":"preToolCall","subject":"deploy","hooks":[{"hook":"gate","answer":"Ask","why":"production","durationMs":1.6696739999999863}],"action":"Ask","decidedBy":"gate"}');
CREATE TABLE artifacts (
    key INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    name TEXT NOT NULL,
    about TEXT NOT NULL,
    UNIQUE (session_id, name)
  ) STRICT;
INSERT INTO artifacts VALUES(1,'waiting','"hook:log"','{"key":"hook:log","ref":"<artifact:hook:log>","mimeType":"text/plain","size":10,"by":"gate","createdAt":1795278783476,"updatedAt":1795278783476}');
CREATE TABLE pieces (
    key INTEGER PRIMARY KEY,
    artifact INTEGER NOT NULL REFERENCES artifacts (key) ON DELETE CASCADE,
    piece TEXT NOT NULL
  ) STRICT;
INSERT INTO pieces VALUES(1,1,'"one 👋\n"');
INSERT INTO pieces VALUES(2,1,'"two"');
CREATE TABLE accounts (id TEXT PRIMARY KEY, account TEXT NOT NULL) STRICT;
INSERT INTO accounts VALUES('"user/ada"','{"spent":{"money":"1250000000","tokens":420,"calls":3},"holds":{"call-4":{"amount":{"money":"5","tokens":6,"calls":1},"holder":"process-1","since":1790000000000}},"elapsedMs":0,"estimated":1,"level":"warn"}');
CREATE TABLE rules (key INTEGER PRIMARY KEY, rule TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO rules VALUES(1,'{"hook":"gate","tool":"look"}');
INSERT INTO rules VALUES(2,'{"hook":"policy","tool":"deploy","fingerprint":"{\"args\":{},\"tool\":\"deploy\"}"}');
CREATE TABLE event_logs (
    session_id TEXT PRIMARY KEY,
    removed_to INTEGER NOT NULL,
    turn_first INTEGER NOT NULL,
    written_at REAL NOT NULL
  ) STRICT;
INSERT INTO event_logs VALUES('waiting',3,4,1795360926711.0);
CREATE TABLE events (
    session_id TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    body TEXT NOT NULL,
    written_at REAL NOT NULL,
    PRIMARY KEY (session_id, last)
  ) STRICT;
INSERT INTO events VALUES('waiting',4,9,'{"events":[{"event":{"type":"text-delta","seq":9,"text":"it''s 👋"},"parts":[[4,3],[9,5]]}],"key":"m2"}',1795360926711.0);
CREATE INDEX sessions_by_change ON sessions (updated_at);
CREATE INDEX records_of_session ON records (session, key);
CREATE INDEX pieces_of_artifact ON pieces (artifact, key);
CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    at REAL NOT NULL,
    tenant TEXT,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    outcome TEXT,
    finished_at REAL,
    UNIQUE (session_id, key)
  ) STRICT;
INSERT INTO inbox VALUES(1,'ended','"m1"','message','{"message":"hi\n\"there\" 👋"}',1795278783460.0,'"ada"','done',1,'{"status":"completed","text":"hello"}',1795278783485.0);
INSERT INTO inbox VALUES(2,'waiting','"m2"','message','{"message":"deploy it, don''t ask"}',1795278783461.0,NULL,'suspended',2,'{"status":"suspended"}',NULL);
CREATE INDEX inbox_open ON inbox (session_id, seq) WHERE finished_at IS NULL;
CREATE INDEX inbox_due ON inbox (at) WHERE finished_at IS NULL;
CREATE INDEX inbox_finished ON inbox (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX event_logs_by_change ON event_logs (written_at);
CREATE TABLE pins (session_id TEXT PRIMARY KEY, release TEXT NOT NULL) STRICT;
CREATE TABLE erased (hash TEXT PRIMARY KEY) STRICT;
CREATE TABLE bodies (entry INTEGER PRIMARY KEY REFERENCES inbox (seq) ON DELETE CASCADE, body TEXT NOT NULL) STRICT;
COMMIT;
