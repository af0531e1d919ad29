# Jobs on several hosts that a shell loop starts: with a secret, without one, and with strangers at the door.
# cores: 1
# timeout: 200
. "$SRC/test/hosts/lib.sh"
need_network
need_pe
hosts_up 3
export SHMEM_SECRET="known to all of the job"
uid_on 0 "hello" 1 "$pe" rounds 3
lines 3 "hello" "^well [0-2] of 3$"
[ -s err ] && fail "hello says $(head -1 err)"
uid_on 0 "hello" 2 "$pe" rounds 2
lines 6 "hello" "^well [0-5] of 6$"
for program in rma coll_active; do
    SHMEM_SYMMETRIC_SIZE=64M uid_on 0 "$program" 2 "$BUILD/test/spec/$program"
done
for who in 0 2; do
    uid_on bad "PE $who is killed" 1 "$pe" kill $who
    says "PE $who is killed" "PE $who .*(was killed by signal 9|has died)"
    uid_on 5 "PE $who calls global_exit" 1 "$pe" global-exit $who
done
nothing_left_on_hosts "ends"

# The secret: in a file that only its owner reads, another one, none.
echo "in a file" >secret
chmod 600 secret
(unset SHMEM_SECRET; SHMEM_SECRET_FILE=$PWD/secret uid_on 0 "a file" 1 "$pe" rounds 1; exit $failures) || failures=$((failures + 1))
chmod 644 secret
(unset SHMEM_SECRET; SHMEM_SECRET_FILE=$PWD/secret uid_on bad "an open file" 1 "$pe" rounds 1; says "an open file" "SECRET_FILE"
 exit $failures) || failures=$((failures + 1))
export SHMEM_BOOT_TIMEOUT=5
(unset SHMEM_SECRET; uid_on bad "no secret" 1 "$pe" rounds 1; says "no secret" "SHMEM_SECRET"; exit $failures) ||
    failures=$((failures + 1))
# At once where PE 0 is to be seen elsewhere, long before PE 0 gives up.
(unset SHMEM_SECRET; SHMEM_BOOT_TIMEOUT=60 limit=5 start_uid_on 1 "$pe" rounds 1; collect
 [ "$codes" = "124 1 1" ] || fail "no secret, at once: statuses $codes"
 says "no secret, at once" "MASTER_ADDR is not this machine.*without a secret anybody could join it"
 exit $failures) || failures=$((failures + 1))
(unset SHMEM_SECRET; export SHMEM_UID_INSECURE=1; uid_on 0 "no secret is wanted" 1 "$pe" rounds 1; exit $failures) ||
    failures=$((failures + 1))
uid_on bad "another secret" 1 sh -c 'case $(hostname) in host3) SHMEM_SECRET=another ;; esac; exec "$0" rounds 1' "$pe"
says "another secret" "secret|has not come"
lines 0 "another secret" "^well"

# PEs that cannot come, as the port is blocked, and that do not.
export SHMEM_UID_PORT=29555
block 1 29555 29555
uid_on bad "a blocked port" 1 "$pe" rounds 1
says "a blocked port" "PEs? (1|2|1-2|1, 2|1 and 2).* ha(s|ve) not come"
unblock 1
uid_on bad "PE 2 does not come" 1 sh -c '[ $RANK != 2 ] || exit 1; exec "$0" rounds 1' "$pe"
says "PE 2 does not come" "PE 2 .*has not come"

# Strangers while PE 2 is still to come: they say nothing, junk, and a request of the web; the job begins all the same.
export SHMEM_BOOT_TIMEOUT=20
cat >stranger.py <<'END_OF_PROGRAM'
import os
import socket
import time
kept = []
end = time.time() + 3
while time.time() < end:
    for say in (b"", b"GET / HTTP/1.1\r\nHost: host1\r\n\r\n", os.urandom(4096)):
        try:
            s = socket.create_connection(("host1", 29555), timeout=1)
            s.sendall(say)
        except OSError:
            continue
        kept.append(s)
        if len(kept) > 40:
            kept.pop(0).close()
    time.sleep(0.02)
print("strangers", len(kept))
END_OF_PROGRAM
on 2 python3 stranger.py >strangers 2>&1 &
stranger=$!
uid_on 0 "strangers at the port" 1 sh -c '[ $RANK != 2 ] || sleep 2; exec "$0" rounds 1' "$pe"
lines 3 "strangers at the port" "^well [0-2] of 3$"
wait $stranger
grep -q 'strangers [1-9]' strangers || fail "the strangers met nobody: $(cat strangers)"
nothing_left_on_hosts "strangers at the port"
finish
